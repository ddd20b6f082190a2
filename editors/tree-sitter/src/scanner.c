// Ends of lines and blocks, from indentation. Each token is empty and stands where the line
// before ends, so that comments and empty lines between two blocks belong to the outer one.
//
// The state is the columns of the open blocks, increasing. A line that begins with `else` or
// `until` in the column of the innermost block goes on with the statement before it.

#include <string.h>

#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"

enum Token { NEWLINE, INDENT, DEDENT, ERROR };

// The language allows 48 nested blocks.
enum { DEPTH = 64 };

typedef struct {
  uint16_t columns[DEPTH];
  uint8_t depth;
} Blocks;

void *tree_sitter_snapshot_external_scanner_create(void) {
  return ts_calloc(1, sizeof(Blocks));
}

void tree_sitter_snapshot_external_scanner_destroy(void *payload) { ts_free(payload); }

unsigned tree_sitter_snapshot_external_scanner_serialize(void *payload, char *buffer) {
  Blocks *blocks = payload;
  unsigned size = blocks->depth * sizeof(uint16_t);
  memcpy(buffer, blocks->columns, size);
  return size;
}

void tree_sitter_snapshot_external_scanner_deserialize(void *payload, const char *buffer,
                                                       unsigned length) {
  Blocks *blocks = payload;
  blocks->depth = length / sizeof(uint16_t);
  if (length > 0) memcpy(blocks->columns, buffer, length);
}

static bool is_part_of_word(int32_t symbol) {
  return symbol == '_' || (symbol >= '0' && symbol <= '9') || (symbol >= 'a' && symbol <= 'z') ||
         (symbol >= 'A' && symbol <= 'Z') || symbol > 127;
}

// Whether the next word is `else` or `until`.
static bool at_continuation(TSLexer *lexer) {
  char word[6] = {0};
  unsigned length = 0;
  while (is_part_of_word(lexer->lookahead)) {
    if (length == sizeof(word) - 1 || lexer->lookahead > 127) return false;
    word[length++] = (char)lexer->lookahead;
    lexer->advance(lexer, false);
  }
  return strcmp(word, "else") == 0 || strcmp(word, "until") == 0;
}

bool tree_sitter_snapshot_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  Blocks *blocks = payload;
  // Within parentheses lines go on; where the text is wrong all are valid, and none is made.
  if (valid[ERROR] || !(valid[NEWLINE] || valid[INDENT] || valid[DEDENT])) return false;
  lexer->mark_end(lexer);
  bool is_end_of_line = false;
  uint16_t column = 0;
  for (;;) {
    if (lexer->eof(lexer)) {
      is_end_of_line = true;
      column = 0;
      break;
    }
    int32_t symbol = lexer->lookahead;
    if (symbol == '\n') {
      is_end_of_line = true;
      column = 0;
    } else if (symbol == ' ' || symbol == '\t') {
      if (column < UINT16_MAX) column++;
    } else if (symbol == '#' && is_end_of_line) {
      while (lexer->lookahead != '\n' && !lexer->eof(lexer)) lexer->advance(lexer, false);
      continue;
    } else if (symbol != '\r') {
      break;
    }
    lexer->advance(lexer, false);
  }
  if (!is_end_of_line) return false;

  uint16_t innermost = blocks->depth == 0 ? 0 : blocks->columns[blocks->depth - 1];
  if (valid[INDENT] && column > innermost && blocks->depth < DEPTH) {
    blocks->columns[blocks->depth++] = column;
    lexer->result_symbol = INDENT;
    return true;
  }
  if (valid[NEWLINE]) {
    if (column == innermost && at_continuation(lexer)) return false;
    lexer->result_symbol = NEWLINE;
    return true;
  }
  if (valid[DEDENT] && column < innermost) {
    blocks->depth--;
    lexer->result_symbol = DEDENT;
    return true;
  }
  return false;
}
