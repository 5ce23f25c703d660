(function_declaration name: (_) @name) @definition
(method_declaration name: (_) @name) @definition
(type_spec name: (_) @name) @definition
