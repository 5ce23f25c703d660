(abstract_class_declaration name: (_) @name) @definition
(interface_declaration name: (_) @name) @definition
(type_alias_declaration name: (_) @name) @definition
(enum_declaration name: (_) @name) @definition
(function_signature name: (_) @name) @definition
