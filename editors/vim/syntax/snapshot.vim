" Vim syntax: algorithms for atomic snapshots (docs/language.md)
if exists("b:current_syntax")
  finish
endif

syntax iskeyword @,48-57,_

syntax keyword snapshotConditional if then else
syntax keyword snapshotRepeat for in repeat until while with loop exit
syntax keyword snapshotStatement return skip atomic linearizes
syntax keyword snapshotOperator and or not mod all any except
syntax keyword snapshotConstant true false none me n initial fresh
syntax keyword snapshotType value bool bit process processes segment segments version counter view record array list of llsc cas
syntax keyword snapshotFunction LL SC VL CAS SWAP FAA TAS number append prepend len
syntax match snapshotDeclaration "^\(algorithm\|source\|size\|shared\|private\|type\|procedure\|update\|scan\|object\|node\|initially\|bug\|expect\)\>"
syntax match snapshotDeclaration "^\s\+state\>\ze\s\+\w"
syntax keyword snapshotDeclaration local when await
syntax match snapshotStatement "\<\(new\|free\)\>\ze\s\+\h"
syntax match snapshotStatement ":=\s*\zschoose\ze\s\+\w"
syntax match snapshotStatement "\(^\s\+\|[:;]\s*\)\zstogether\ze\s*\($\|[;#]\)"
syntax keyword snapshotEdit replace by delete insert before after contained
syntax region snapshotEdits start="^\s\+in \w\+, \(replace\|delete\|insert\)" end="$" contains=snapshotEdit,snapshotQuoted
syntax region snapshotQuoted start="`" end="`" contained
syntax region snapshotString start=+"+ end=+"+
syntax match snapshotNumber "\<\d\+\>"
syntax match snapshotAssign ":="
syntax match snapshotComment "#.*$" contains=@Spell

highlight default link snapshotConditional Conditional
highlight default link snapshotRepeat Repeat
highlight default link snapshotStatement Statement
highlight default link snapshotOperator Operator
highlight default link snapshotConstant Constant
highlight default link snapshotType Type
highlight default link snapshotFunction Function
highlight default link snapshotDeclaration Keyword
highlight default link snapshotEdit Keyword
highlight default link snapshotQuoted Special
highlight default link snapshotString String
highlight default link snapshotNumber Number
highlight default link snapshotAssign Operator
highlight default link snapshotComment Comment

let b:current_syntax = "snapshot"
