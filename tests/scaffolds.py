"""What models show of their scaffolding, with what a person should see of it, and what only looks like that."""

CALL = '{"name": "memory_recall", "arguments": {"query": "蛇"}}'
PIPE = "<|im_start|>"

LEAKED: dict[str, str] = {
    # templates of chats
    "chatml": f"{PIPE}assistant\n你怕蛇<|im_end|>",
    "chatml goes on": f"你怕蛇<|im_end|>\n{PIPE}user\n小王：还有呢{PIPE}assistant\n",
    "chatml system": f"{PIPE}system\n不要说出记忆<|im_end|>\n{PIPE}assistant\n你怕蛇",
    "end of text": "你怕蛇<|endoftext|>",
    "llama 3": "<|start_header_id|>assistant<|end_header_id|>\n\n你怕蛇<|eot_id|>",
    "llama 3 goes on": "你怕蛇<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n小王：还有呢",
    "llama 2": "[INST] <<SYS>>\n不要说出记忆\n<</SYS>>\n小王：我怕什么 [/INST] 你怕蛇 </s>",
    "llama 2 goes on": "你怕蛇 </s><s>[INST] 小王：还有呢",
    "gemma": "<start_of_turn>model\n你怕蛇<end_of_turn>",
    "gemma goes on": "你怕蛇<end_of_turn>\n<start_of_turn>user\n小王：还有呢",
    "glm": "<|assistant|>\n你怕蛇<|user|>\n小王：还有呢",
    "glm observation": "你怕蛇<|observation|>不要说出记忆",
    "deepseek": "你怕蛇<｜end▁of▁sentence｜><｜User｜>小王：还有呢",
    "beginning and end": "<s>你怕蛇",
    "end mark": "你怕蛇<eos>",
    "padding": "你怕蛇<pad><pad><pad>",
    "reserved": "你怕蛇<|reserved_special_token_12|>",
    "mistral system": "[SYSTEM_PROMPT]不要说出记忆[/SYSTEM_PROMPT]你怕蛇",
    # tool calls and their results
    "hermes": f"<tool_call>\n{CALL}\n</tool_call>你怕蛇",
    "hermes response": "<tool_response>不要说出记忆</tool_response>你怕蛇",
    "anthropic": '<function_calls>\n<invoke name="memory_recall">\n<parameter name="query">不要说出记忆</parameter>\n'
    "</invoke>\n</function_calls>你怕蛇",
    "invoke alone": '<invoke name="memory_recall"><parameter name="query">不要说出记忆</parameter></invoke>你怕蛇',
    "function results": "<function_results>不要说出记忆</function_results>你怕蛇",
    "tool result": "<tool_result>不要说出记忆</tool_result>你怕蛇",
    "glaive": f"<functioncall> {CALL} </functioncall>你怕蛇",
    "minimax": f"<minimax:tool_call>\n{CALL}\n</minimax:tool_call>你怕蛇",
    "gemini": '```tool_code\nprint(memory_recall(query="不要说出记忆"))\n```\n你怕蛇',
    "gemini outputs": "```tool_outputs\n不要说出记忆\n```\n你怕蛇",
    "fenced call": f"```xml\n<tool_call>{CALL}</tool_call>\n```\n你怕蛇",
    "mistral results": '[TOOL_RESULTS]{"content": "不要说出记忆"}[/TOOL_RESULTS]你怕蛇',
    "llama python": f"你怕蛇<|python_tag|>{CALL}<|eom_id|>",
    "phi": f"<|tool_call|>[{CALL}]<|/tool_call|>你怕蛇",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.memory_recall:0<|tool_call_argument_begin|>"
    '{"query": "不要说出记忆"}<|tool_call_end|><|tool_calls_section_end|>你怕蛇',
    "internlm": f"你怕蛇<|action_start|><|plugin|>\n{CALL}<|action_end|>",
    "deepseek outputs": "<｜tool▁outputs▁begin｜>不要说出记忆<｜tool▁outputs▁end｜>你怕蛇",
    # thoughts
    "magistral": "[THINK]不要说出记忆[/THINK]你怕蛇",
    "seed": "<seed:think>不要说出记忆</seed:think>你怕蛇",
    "kimi thinks": "◁think▷不要说出记忆◁/think▷你怕蛇",
    "open thoughts": "<|begin_of_thought|>不要说出记忆<|end_of_thought|>你怕蛇",
    "scratchpad": "<scratchpad>不要说出记忆</scratchpad>\n<answer>你怕蛇</answer>",
    "reasoning": "<reasoning>\n不要说出记忆\n</reasoning>\n你怕蛇",
    # what nuan itself shows a model
    "opening": "【此处】console私聊。时区 Asia/Shanghai。\n【在场】小王\n你怕蛇",
    "people": "<people>\n小王：不要说出记忆\n</people>\n你怕蛇",
    "gap": "<g n=3/>你怕蛇",
    "own line": '<ctx now="2026-06-12 09:00">\n<p n="小王">我怕什么</p>\n<b>你怕蛇</b>\n</ctx>',
    "memories": "<memory>\n不要说出记忆\n</memory>\n你怕蛇",
    "system": "<system>不要说出记忆</system>你怕蛇",
    "system reminder": "<system-reminder>不要说出记忆</system-reminder>\n你怕蛇",
}
"""Scaffolding as models leak it, by its name; of every form a person should see 你怕蛇 and nothing else."""

WANTED: tuple[str, ...] = (
    "3 < 5，x<y 而 a<b>c，i<3 ♥ <3",
    "```html\n<b>hi</b> <s>旧</s>\n```",
    "在 ChatML 里 `<|im_start|>user` 开始一句话，`<|im_end|>` 结束它",
    "```\n<|im_start|>system\n你是助手<|im_end|>\n```\n这就是模板",
    "Qwen 用 `<tool_call>` 包住调用，结果放在 `<tool_response>` 里，别的照旧",
    "XML 例子：\n```xml\n<memory unit='KiB'>512</memory>\n<system>linux</system>\n```\n内存是 512",
    "libvirt 里写 <memory unit='KiB'>512</memory> 就行",
    "配置里的 <system><memory>1</memory></system> 表示一格",
    "【重要】明天记得带伞\n【此处】风大",
    "【在场】的都有谁？",
    "<s>旧价 99</s> 现价 9",
    "网页里 <p> 是段落，<b>粗体</b> 是强调，<p class='x'> 带样式，<ul><li>一</li></ul>",
    "清单：[1] 见 <function> 和 [TOOLS]，[INFO] 日志，[x] 做完",
    "Assistant: 这是剧本里的台词\nUser: 好",
    "Thought: 我该睡了",
    "数组 a[i]<b[j]，位移 1<<2>>1，流 cout << x",
    "C++ 的 vector<int>、map<string, vector<int>>",
    "```python\nif a < b:\n    print(f'<{a}>')\n```",
    "`a` 和 `b` 之间有 <http://example.com> 链接",
    "~~~\n[INST] 这是 Llama 2 的模板 [/INST]\n~~~",
    "颜文字 (◁_▷) <(￣︶￣)> >_<",
    "<3 <3 <3",
    "SQL：SELECT * FROM t WHERE a <> b AND c <= 3",
    "把结果写在 <tool_result> 标签里，别写在别处",
    "```html\n<tooltip>提示</tooltip>\n```\n这样就有提示了",
    "用 <answer> 标签把答案包起来，比如 <answer>42</answer> 这样，就好",
)
"""What must come through as it is written."""
