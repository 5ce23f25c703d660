(class_declaration name: (_) @name) @definition
(function_declaration name: (_) @name) @definition
(generator_function_declaration name: (_) @name) @definition
(method_definition name: (_) @name) @definition
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (class)]) @definition
