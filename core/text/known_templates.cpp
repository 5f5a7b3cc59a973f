// SPDX-License-Identifier: Apache-2.0
#include "core/text/known_templates.h"

namespace lorikeet {
namespace {

constexpr std::string_view chatml = R"({%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %})";

constexpr std::string_view zephyr = R"({%- for message in messages %}
    {{- '<|' + message.role + '|>\n' + message.content + eos_token + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>\n' }}
{%- endif %})";

constexpr std::string_view llama2 = R"({%- set system = '' %}
{%- set turns = messages %}
{%- if messages and messages[0].role == 'system' %}
    {%- set system = '<<SYS>>\n' + messages[0].content + '\n<</SYS>>\n\n' %}
    {%- set turns = messages[1:] %}
{%- endif %}
{%- for message in turns %}
    {%- if message.role == 'system' or (message.role == 'user') != (loop.index0 is even) %}
        {{- raise_exception('Llama 2 needs user and assistant turns one after the other, beginning with the user') }}
    {%- endif %}
    {%- if message.role == 'user' %}
        {{- bos_token + '[INST] ' + ((system if loop.first else '') + message.content).strip() + ' [/INST]' }}
    {%- else %}
        {{- ' ' + message.content.strip() + ' ' + eos_token }}
    {%- endif %}
{%- endfor %})";

constexpr std::string_view llama3 = R"({{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + message.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %})";

constexpr std::string_view mistral = R"({%- set system = '' %}
{%- set turns = messages %}
{%- if messages and messages[0].role == 'system' %}
    {%- set system = messages[0].content + '\n\n' %}
    {%- set turns = messages[1:] %}
{%- endif %}
{{- bos_token }}
{%- for message in turns %}
    {%- if message.role == 'system' or (message.role == 'user') != (loop.index0 is even) %}
        {{- raise_exception('Mistral needs user and assistant turns one after the other, beginning with the user') }}
    {%- endif %}
    {%- if message.role == 'user' %}
        {{- '[INST] ' + (system if loop.first else '') + message.content + '[/INST]' }}
    {%- else %}
        {{- ' ' + message.content + eos_token }}
    {%- endif %}
{%- endfor %})";

}  // namespace

const std::vector<KnownTemplate>& known_templates() {
  static const std::vector<KnownTemplate> templates = {
      {"chatml", chatml}, {"zephyr", zephyr}, {"llama2", llama2}, {"llama3", llama3}, {"mistral", mistral}};
  return templates;
}

}  // namespace lorikeet
