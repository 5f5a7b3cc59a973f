# SPDX-License-Identifier: Apache-2.0
"""Makes templates/: chat templates rendered by Jinja2 in the environment that transformers sets up.

features.json  small templates of our own, one feature each
shapes.json    the templates of template_shapes/ with every conversation
shared.json    templates of the shared test data (only their paths are here) with the conversations
"""

import json
import shutil

import common
from template_cases import CONVERSATIONS, FEATURES

import jinja2
from transformers.utils import chat_template_utils

FOLDER = common.HERE / "templates"
DATA = common.shared_data()
LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
LLAMA3 = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}
CHATML = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "unk_token": "<|endoftext|>"}
GEMMA = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}

SHAPES = {"chatml": CHATML, "smollm2": CHATML, "zephyr": LLAMA, "llama2": LLAMA, "llama3": LLAMA3, "mistral": LLAMA}
SHARED = {
    "tokenizers/tinyllama/chat_template.jinja": LLAMA,
    "tokenizers/llama3/tokenizer_config.llama-3.json": LLAMA3,
    "tokenizers/llama3/tokenizer_config.llama-3.1.json": LLAMA3,
    "configs/chat_templates/meta-llama-Llama-3.1-8B-Instruct.jinja": LLAMA3,
    "tokenizers/mistral/chat_templates/v1.jinja": LLAMA,
    "tokenizers/mistral/chat_templates/v2_spm.jinja": LLAMA,
    "tokenizers/mistral/chat_templates/v3_spm.jinja": LLAMA,
    "tokenizers/qwen2.5/tokenizer_config.json": CHATML,
    "tokenizers/qwen3/tokenizer_config.json": CHATML,
    "tokenizers/phi-3/tokenizer_config.json": LLAMA,
    "configs/chat_templates/microsoft-Phi-3.5-mini-instruct.jinja": LLAMA,
    "tokenizers/gemma/tokenizer_config.json": GEMMA,
    "configs/chat_templates/google-gemma-2-2b-it.jinja": GEMMA,
    "configs/chat_templates/deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja": LLAMA3,
}
SHARED_CONVERSATIONS = ["one_turn", "two_rounds", "three_rounds_open", "system_answered", "edge_spaces", "unicode",
                        "special_text", "empty_contents", "starts_with_assistant", "two_users", "late_system", "think"]


def byte_ranges(text: str, ranges) -> list[list[int]]:
    return [[len(text[:a].encode()), len(text[:b].encode())] for a, b in ranges]


def render(source: str, messages: list, generation_prompt: bool, tokens: dict) -> dict:
    """text and, where there are any, the byte ranges of generation blocks; or which kind of error."""
    arguments = {"messages": messages, "tools": None, "documents": None,
                 "add_generation_prompt": generation_prompt, **tokens}
    try:
        template = chat_template_utils._compile_jinja_template(source)
        text = template.render(**arguments)
        ranges = []
        if "generation %}" in source:
            again, ranges = chat_template_utils._render_with_assistant_indices(
                compiled_template=template, **arguments)
            assert again == text
    except jinja2.exceptions.TemplateSyntaxError:
        return {"error": "syntax"}
    except jinja2.exceptions.TemplateError as error:
        raised = "raise_exception" in source and type(error) is jinja2.exceptions.TemplateError
        return {"error": "raised", "message": str(error)} if raised else {"error": "render"}
    except (TypeError, ValueError, ZeroDivisionError, AttributeError):
        return {"error": "render"}
    return {"text": text, **({"generation": byte_ranges(text, ranges)} if ranges else {})}


def read_template(path: str) -> str:
    data = (DATA / path).read_text(encoding="utf-8")
    return json.loads(data)["chat_template"] if path.endswith(".json") else data


def both_prompts(source: str, names, tokens: dict) -> list[dict]:
    """Every conversation with and without the generation prompt; the second only when it differs."""
    cases = []
    for name in names:
        without = render(source, CONVERSATIONS[name], False, tokens)
        with_prompt = render(source, CONVERSATIONS[name], True, tokens)
        cases.append({"conversation": name, "add_generation_prompt": False, **without})
        if "error" not in without and "text" in with_prompt and with_prompt["text"].startswith(without["text"]):
            cases[-1]["prompt_adds"] = with_prompt["text"].removeprefix(without["text"])
        elif with_prompt != without:
            cases.append({"conversation": name, "add_generation_prompt": True, **with_prompt})
    return cases


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    about = {"made_by": "make_templates.py", "versions": common.versions("jinja2", "transformers")}
    features = [{"name": name, "template": source, "conversation": conversation, "add_generation_prompt": False,
                 **render(source, CONVERSATIONS[conversation], False, LLAMA)}
                for name, (source, conversation) in FEATURES.items()]
    shapes = [{"file": f"template_shapes/{name}.jinja", "tokens": tokens,
               "cases": both_prompts((common.HERE / f"template_shapes/{name}.jinja").read_text(), CONVERSATIONS, tokens)}
              for name, tokens in SHAPES.items()]
    shared = [{"file": path, "tokens": tokens, "cases": both_prompts(read_template(path), SHARED_CONVERSATIONS, tokens)}
              for path, tokens in SHARED.items()]
    common.write_json(FOLDER / "conversations.json", CONVERSATIONS)
    common.write_json(FOLDER / "features.json", {**about, "tokens": LLAMA, "cases": features})
    common.write_json(FOLDER / "shapes.json", {**about, "templates": shapes})
    common.write_json(FOLDER / "shared.json", {**about, "templates": shared})
    errors = [c["name"] for c in features if "error" in c]
    print(len(features), "features,", len(errors), "fail:", errors)
    print(sum(len(t["cases"]) for t in shapes), sum(len(t["cases"]) for t in shared))


if __name__ == "__main__":
    main()
