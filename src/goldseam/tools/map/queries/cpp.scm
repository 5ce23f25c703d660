(function_definition declarator: (reference_declarator
  (function_declarator declarator: (_) @name))) @definition
(class_specifier name: (_) @name body: (_)) @definition
(namespace_definition name: (_) @name) @definition
