(class_definition name: (_) @name) @definition
(function_definition name: (_) @name) @definition
(module (expression_statement (assignment left: (identifier) @name) @definition))
