(function_definition declarator: (function_declarator declarator: (_) @name)) @definition
(function_definition declarator: (pointer_declarator
  declarator: (function_declarator declarator: (_) @name))) @definition
(declaration declarator: (function_declarator declarator: (identifier) @name)) @definition
(struct_specifier name: (_) @name body: (_)) @definition
(union_specifier name: (_) @name body: (_)) @definition
(enum_specifier name: (_) @name body: (_)) @definition
(type_definition declarator: (type_identifier) @name) @definition
(preproc_function_def name: (_) @name) @definition
