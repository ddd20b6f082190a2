(comment) @comment
(string) @string
(quotation) @string.special
(number) @number
(constant) @constant.builtin
"n" @constant.builtin

["algorithm" "source" "shared" "private" "type" "procedure" "object" "state" "node" "initially" "bug" "expect" "local"] @keyword
["in" "replace" "delete" "insert" "by" "before" "after" "when" "await" "others" "every" "pair"
 "operations" "size" "full" "values" "updater"] @keyword
["linearizable" "violation" "fault" "no" "proof" "strongly" "wait" "lock" "obstruction" "starvation" "deadlock"
 "access" "accesses"] @constant
["if" "then" "else"] @conditional
["for" "repeat" "until" "while" "loop" "except"] @repeat
["return" "atomic" "linearizes" "with" "new" "free" "choose" "together" "up" "to" "stable"] @keyword
[(exit) (skip)] @keyword
["and" "or" "not" "mod" "all" "any"] @keyword.operator
[":=" "=" "!=" "<" "<=" ">" ">=" "+" "-" "*" "/" ".."] @operator
["llsc" "cas" "record" "array" "list" "of" "process" "segment" "processes" "segments" "none"] @type.builtin
(named_type) @type
(type_declaration name: (identifier) @type)

(header name: (identifier) @namespace)
(object name: (identifier) @type)
(node name: (identifier) @type)
(new node: (identifier) @type)
(initially name: (identifier) @constant)
(bug name: (identifier) @label)
(expectation bug: (identifier) @label)
(procedure name: (identifier) @function)
(operation name: (identifier) @function)
(call name: (identifier) @function)
((call name: (identifier) @function.builtin)
 (#any-of? @function.builtin "LL" "SC" "VL" "CAS" "SWAP" "FAA" "TAS" "process" "segment" "number" "value" "append" "prepend" "first" "rest" "len"))
(parameter name: (identifier) @parameter)
(field (_) "." (identifier) @property)
