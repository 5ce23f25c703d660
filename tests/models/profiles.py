"""A profile for each kind of host that speaks Chat Completions: facts, as the catalog will hold."""

from goldseam.models.dialect import IdRule, Profile

OPENAI = Profile(
    host="openai",
    model="gpt-5.2",
    seal_scope="openai",
    system_role="developer",
    strict_schemas=True,
    takes_images=True,
    thinking=True,
    effort="high",
    caches=True,
)
DEEPSEEK = Profile(
    host="deepseek",
    model="deepseek-reasoner",
    seal_scope="deepseek",
    output_limit_field="max_tokens",
    reasoning_field="reasoning_content",
    echoes_reasoning="with_calls",
    thinking=True,
)
MISTRAL = Profile(
    host="mistral",
    model="mistral-large",
    seal_scope="mistral",
    ids=IdRule(alphabet="[A-Za-z0-9]", exactly=9),
    output_limit_field="max_tokens",
    bridges_user_after_tool=True,
    merges_same_role=True,
    names_tool_in_result=True,
    temperature=0.5,
)
MOONSHOT = Profile(
    host="moonshot",
    model="kimi-k2-thinking",
    seal_scope="moonshot",
    output_limit_field="max_tokens",
    reasoning_field="reasoning_content",
    echoes_reasoning="always",
    thinking=True,
)
DASHSCOPE = Profile(
    host="dashscope",
    model="qwen3-max",
    seal_scope="dashscope",
    output_limit_field="max_tokens",
    reasoning_field="reasoning_content",
)
ZAI = Profile(
    host="zai",
    model="glm-5",
    seal_scope="zai",
    output_limit_field="max_tokens",
    reasoning_field="reasoning_content",
    echoes_reasoning="with_calls",
)
XAI = Profile(host="xai", model="grok-5", seal_scope="xai", takes_images=True)
GROQ = Profile(host="groq", model="gpt-oss-120b", seal_scope="groq", reasoning_field="reasoning")
OPENROUTER = Profile(
    host="openrouter",
    model="google/gemini-3-pro",
    seal_scope="openrouter",
    output_limit_field="max_tokens",
    takes_images=True,
)
TOGETHER = Profile(
    host="together", model="llama-4", seal_scope="together", output_limit_field="max_tokens"
)
VLLM = Profile(
    host="vllm",
    model="qwen3-coder",
    seal_scope="vllm",
    output_limit_field="max_tokens",
    reasoning_field="reasoning",
)
LLAMA_CPP = Profile(
    host="llama.cpp",
    model="local",
    seal_scope="llama.cpp",
    output_limit_field="max_tokens",
    merges_same_role=True,
    takes_images=True,
)
OLLAMA = Profile(
    host="ollama",
    model="gpt-oss",
    seal_scope="ollama",
    output_limit_field="max_tokens",
    streams=False,
)
GEMINI = Profile(
    host="gemini-openai",
    model="gemini-3-pro",
    seal_scope="gemini-openai",
    output_limit_field="max_tokens",
    names_tool_in_result=True,
    requires_signatures=True,
    takes_images=True,
)

CHAT_PROFILES = (
    *(OPENAI, DEEPSEEK, MISTRAL, MOONSHOT, DASHSCOPE, ZAI, XAI, GROQ, OPENROUTER, TOGETHER),
    *(VLLM, LLAMA_CPP, OLLAMA, GEMINI),
)
