autocmd BufRead,BufNewFile *.snapshot setfiletype snapshot
