// The language of snapshot algorithms (docs/language.md) for tree-sitter.
//
// Blocks and ends of lines come from src/scanner.c: a statement that stands on lines of its own
// ends with a newline, also where a block ends it, unless its `else` or `until` follows.

const PRECEDENCE = { quantified: 1, or: 2, and: 3, not: 4, comparison: 5, sum: 6, product: 7, postfix: 8 };

// Words that are no names; fields may be called so.
const KEYWORDS = [
  "all", "and", "any", "atomic", "else", "except", "exit", "false", "for", "fresh", "if", "in",
  "initial", "linearizes", "local", "loop", "me", "mod", "n", "none", "not", "or", "repeat",
  "return", "skip", "then", "true", "until", "while", "with",
];

// Levels of progress, before `-free`. Operations may be called so.
const LEVELS = ["wait", "lock", "obstruction", "starvation", "deadlock"];

const separated = (rule, by) => seq(rule, repeat(seq(by, rule)));

module.exports = grammar({
  name: "snapshot",

  word: ($) => $.identifier,
  extras: ($) => [/\s/, $.comment],
  externals: ($) => [$._newline, $._indent, $._dedent, $._error],
  inline: ($) => [$._body],
  supertypes: ($) => [$._declaration, $._statement, $._expression, $._type],
  conflicts: ($) => [[$._place, $._primary], [$.free, $._primary]],

  rules: {
    source_file: ($) => repeat(seq($._declaration, $._newline)),

    comment: () => token(seq("#", /[^\n]*/)),
    identifier: () => /[\p{Alphabetic}_][\p{Alphabetic}0-9_]*/,
    number: () => /[0-9]+/,
    // Both may go on on further lines.
    string: () => /"[^"]*"/,
    quotation: () => /`[^`]*`/,

    _declaration: ($) =>
      choice(
        $.header, $.source, $.size, $.shared, $.private, $.type_declaration, $.node, $.initially, $.procedure,
        $.object, $.bug, $.expectation,
      ),
    header: ($) => seq("algorithm", field("name", $.identifier)),
    source: ($) => seq("source", $.string),
    // `size` is a name in texts that declare none.
    size: ($) => seq(alias($.identifier, "size"), $.number),
    shared: ($) => seq("shared", $._variable_name, optional(choice("llsc", "cas")), $._variable_rest),
    private: ($) => seq("private", $._variable_name, $._variable_rest),
    local: ($) => seq("local", $._variable_name, $._variable_rest),
    _variable_name: ($) => seq(field("name", $.identifier), repeat($._dimension), ":"),
    _variable_rest: ($) => seq($._any_type, optional(seq(":=", $._expression))),
    _dimension: ($) => seq("[", choice("process", "segment", $.range), "]"),
    type_declaration: ($) => seq("type", field("name", $.identifier), "=", $._any_type),

    node: ($) =>
      seq("node", field("name", $.identifier), optional(seq("up", "to", $._expression)),
        optional(seq("type", "stable")), ":",
        choice(
          $._fields,
          seq($._indent, repeat1(seq($._fields, $._newline)), $._dedent),
        )),
    _fields: ($) =>
      prec.right(seq(repeat(";"), $.node_field, repeat(seq(repeat1(";"), $.node_field)), repeat(";"))),
    node_field: ($) =>
      seq(field("name", $._field_name), ":", optional(choice("llsc", "cas")), $._any_type),
    initially: ($) => seq("initially", field("name", $.identifier), ":=", $.new),
    new: ($) =>
      // `new` and `free` may be names, too: what follows tells.
      seq(alias($.identifier, "new"), field("node", $.identifier), "(",
        optional(separated($._expression, ",")), ")"),

    procedure: ($) =>
      seq(optional("procedure"), field("name", $.identifier), optional($.parameters), ":",
        choice($._body, seq($._type, choice(seq(":", $._body), $.block)))),
    parameters: ($) => seq("(", optional(separated($.parameter, ",")), ")"),
    parameter: ($) => seq(field("name", $.identifier), optional(seq(":", $._any_type))),

    object: ($) =>
      seq("object", field("name", $.identifier), ":", $._indent,
        repeat(seq(choice($.state, $.operation), choice($._newline, ";"))), $._dedent),
    state: ($) => seq("state", $._variable_name, $._variable_rest),
    operation: ($) =>
      seq(field("name", $.identifier), optional($.parameters), optional(seq(":", $._type)),
        repeat(choice(
          seq("by", choice("all", "others", seq("process", $.number))),
          seq(choice("when", "await"), $._expression),
        )), ":", $._body),

    bug: ($) =>
      seq("bug", field("name", $.identifier), $.string, ":",
        choice(
          separated($.edit, ";"),
          seq($._indent, repeat(seq(separated($.edit, ";"), $._newline)), $._dedent),
        )),
    edit: ($) =>
      seq("in", choice("shared", "private", $.identifier), ",",
        choice(
          seq("replace", $.quotation, "by", $.quotation),
          seq("delete", $.quotation),
          seq("insert", $.quotation, choice("before", "after"), $.quotation),
        )),
    expectation: ($) =>
      seq("expect", optional(seq(field("bug", $.identifier), ",")),
        choice(seq("every", "n"), seq("n", "=", $.number, repeat(seq(",", $._clause)))),
        ":", $._verdict),
    _clause: ($) =>
      choice(
        seq("pair", $.number, ",", $.number),
        seq("operations", choice($.number, seq("(", separated($.number, ","), ")"))),
        seq("size", $.number),
        seq("full", ",", "values", $.number),
        seq("updater", $.number),
      ),
    _verdict: ($) =>
      choice(
        "linearizable", "violation", "fault", seq("no", "proof"),
        seq(optional("not"), optional("write"), "strongly", "linearizable"),
        seq(optional(field("operation", choice($.identifier, alias(choice("write", ...LEVELS), $.identifier)))),
          optional("not"), choice(...LEVELS), "-", "free",
          optional(seq(",", $.number, choice("access", "accesses")))),
      ),

    // A type.
    _type: ($) =>
      choice($.named_type, $.range, $.record_type, $.array_type, $.list_type, $.optional_type),
    // Where no statement could stand: only there may a type begin with a parenthesis.
    _any_type: ($) => choice($._type, $.parenthesized_type),
    named_type: ($) => $.identifier,
    optional_type: ($) => prec(1, seq($._type, "or", "none")),
    record_type: ($) => seq("record", "(", separated(seq($._field_name, ":", $._any_type), ","), ")"),
    array_type: ($) => prec.right(seq("array", $._dimension, "of", $._any_type)),
    list_type: ($) => prec.right(seq("list", "of", $._any_type)),
    parenthesized_type: ($) => seq("(", $._any_type, ")"),
    range: ($) => seq($._bound, "..", $._bound),
    // The identifier is `size`.
    _bound: ($) => choice($.number, "n", $.identifier, alias($._bound_operation, $.binary)),
    _bound_operation: ($) =>
      choice(
        prec.left(PRECEDENCE.sum, seq($._bound, choice("+", "-"), $._bound)),
        prec.left(PRECEDENCE.product, seq($._bound, choice("*", "/", "mod"), $._bound)),
      ),

    // Statements on the same line, or a block.
    _body: ($) => choice($._line, $.block),
    block: ($) => seq($._indent, repeat1(seq($._line, $._newline)), $._dedent),
    _line: ($) =>
      prec.right(seq(repeat(";"), $._statement, repeat(seq(repeat1(";"), $._statement)), repeat(";"))),
    _statement: ($) =>
      choice(
        $.local, $.assignment, $.take_apart, $.do, $.free, $.return, $.exit, $.skip, $.if, $.repeat,
        $.while, $.loop, $.for, $.atomic, $.together,
        // Behind a block it stands on a line of its own.
        $.mark,
      ),
    mark: ($) => prec.right(seq("linearizes", optional(seq("if", $._expression)))),
    assignment: ($) =>
      seq(field("place", $._place), ":=", field("value", choice($._expression, $.new, $.choose)),
        optional($.mark)),
    choose: ($) =>
      seq(alias($.identifier, "choose"), choice("processes", "segments", $.range)),
    free: ($) => seq(alias($.identifier, "free"), $._place),
    together: ($) => alias($.identifier, "together"),
    take_apart: ($) =>
      seq("(", separated(choice("_", $._place), ","), ")", ":=", $._expression, optional($.mark)),
    do: ($) => seq($.call, optional($.mark)),
    return: ($) => prec.right(seq("return", optional($._expression), optional($.mark))),
    exit: () => "exit",
    skip: () => "skip",
    // An `else` belongs to the innermost `if` on its line.
    if: ($) =>
      prec.right(seq("if", $._expression, ":", $._body,
        repeat(seq("else", "if", $._expression, ":", $._body)), optional(seq("else", ":", $._body)))),
    repeat: ($) =>
      seq("repeat", optional(":"), $._body, "until", $._expression, optional($.mark)),
    while: ($) => prec.right(seq("while", $._expression, ":", $._body)),
    loop: ($) => prec.right(seq("loop", optional(":"), $._body)),
    for: ($) => prec.right(seq("for", $._over, ":", $._body)),
    atomic: ($) => prec.right(seq("atomic", ":", $._body)),
    _over: ($) => seq($._each, optional(seq("except", $._expression))),
    _each: ($) => seq(field("index", $.identifier), "in",
        choice("processes", "segments", alias($._computed_range, $.range))),
    _computed_range: ($) => seq($._expression, "..", $._expression),

    _place: ($) => choice($.identifier, $.index, $.field),
    _expression: ($) => choice($._primary, $.conditional, $.quantified, $.not, $.binary),
    _primary: ($) =>
      choice($.identifier, $.number, $.constant, $.index, $.field, $.with, $.call, $.tuple, $.record, $.each),
    constant: () => choice("true", "false", "none", "me", "n", "initial", "fresh"),
    index: ($) => prec(PRECEDENCE.postfix, seq($._primary, "[", $._expression, "]")),
    field: ($) => prec(PRECEDENCE.postfix, seq($._primary, ".", $._field_name)),
    with: ($) => prec(PRECEDENCE.postfix, seq($._primary, "with", $.record)),
    call: ($) =>
      prec(PRECEDENCE.postfix,
        seq(field("name", $.identifier), "(", optional(separated($._expression, ",")), ")")),
    tuple: ($) => seq("(", separated($._expression, ","), ")"),
    record: ($) => seq("(", separated(seq($._field_name, ":", $._expression), ","), ")"),
    each: ($) => seq("[", optional(seq($._expression, "for", $._each)), "]"),
    conditional: ($) =>
      prec.right(PRECEDENCE.quantified,
        seq("if", $._expression, "then", $._expression, "else", $._expression)),
    quantified: ($) =>
      prec.right(PRECEDENCE.quantified, seq(choice("all", "any"), $._over, ":", $._expression)),
    not: ($) => prec(PRECEDENCE.not, seq("not", $._expression)),
    binary: ($) =>
      choice(
        prec.left(PRECEDENCE.or, seq($._expression, "or", $._expression)),
        prec.left(PRECEDENCE.and, seq($._expression, "and", $._expression)),
        prec.left(PRECEDENCE.comparison,
          seq($._expression, choice("=", "!=", "<", "<=", ">", ">="), $._expression)),
        prec.left(PRECEDENCE.sum, seq($._expression, choice("+", "-"), $._expression)),
        prec.left(PRECEDENCE.product, seq($._expression, choice("*", "/", "mod"), $._expression)),
      ),
    _field_name: ($) => choice($.identifier, alias(choice(...KEYWORDS), $.identifier)),
  },
});
