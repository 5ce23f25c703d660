"""The grammars, compiled into their packages: nothing is fetched. Loaded when first needed."""

import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_ruby
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language

_MAKERS = {
    "c": tree_sitter_c.language,
    "cpp": tree_sitter_cpp.language,
    "go": tree_sitter_go.language,
    "java": tree_sitter_java.language,
    "javascript": tree_sitter_javascript.language,
    "python": tree_sitter_python.language,
    "ruby": tree_sitter_ruby.language,
    "rust": tree_sitter_rust.language,
    "tsx": tree_sitter_typescript.language_tsx,
    "typescript": tree_sitter_typescript.language_typescript,
}


def grammar_of(language: str) -> Language:
    """Return the grammar of one of our languages, by its name."""
    return Language(_MAKERS[language]())
