<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="bn_BD">
<context>
    <name>CheckText</name>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Estimated peak. %n layer(s) are computed again on the way back to save memory.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Estimated peak of the longest batch.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too short to learn much; 20 steps or more are advised. Raise the epochs or collect fewer batches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 to an epoch, evaluated every %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Template and end token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The trained end token is the one that chat and export stop at.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This template has no end token: answers end only at the longest length.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No row ends with the end token, so the model does not learn to stop.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look at tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 rows end with the end token; the others are cut before it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Row lengths</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every row fits into %1 tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>are left out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>are split</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>are cut</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows are longer than %2 tokens and %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers left after masking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 tokens of an epoch are trained.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every row of the file is used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 rows are not used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Usual for LoRA: 1e-4 to 3e-4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Higher than usual; training may not converge. Usual for LoRA: 1e-4 to 3e-4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lower than usual; little is learnt. Usual for LoRA: 1e-4 to 3e-4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows are kept apart to see what was learnt.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No row is kept for evaluation, so overfitting would not be seen.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints, adapter and log.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Free %1 on the disk that holds the runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Max length is above the model&apos;s %1 tokens: positions are stretched.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FormatText</name>
    <message>
        <source>s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>h</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Today, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yesterday, %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>QDialog</name>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log is empty.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RowPreviewText</name>
    <message>
        <source>System</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>User</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Row %1 is left out: it has %2 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Row %1 is cut here, after token %2</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RunSeries</name>
    <message>
        <source>Step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Minutes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RunWords</name>
    <message>
        <source>Starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not started</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused, closed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ended early</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluating</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pausing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped, kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingWords</name>
    <message>
        <source>Quantisation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Number type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Alpha</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank-stabilised scale</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Template</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Max length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longer rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Packing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation share</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shuffle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Max steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Collected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lowest rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warm-up share</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warm-up steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient clip</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluate every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NF4, double</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NF4, single</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Split</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Linear</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Constant</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>AdamW, 8-bit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>AdamW, 32-bit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::AdaptersModel</name>
    <message>
        <source>Missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Good</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::AnswerCard</name>
    <message>
        <source>Answer of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop this answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waits for its turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>answering</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>longest answer reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::BasePage</name>
    <message>
        <source>Base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model that learns. Its weights stay unchanged; training writes a small adapter beside it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base models on this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I want to teach</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A task</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A style</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Facts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on from an adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter to go on from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search name or family, or type a path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search base models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open folder or GGUF…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder with safetensors…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GGUF file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try in chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Family</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights on disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End of answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LoRA learns form and skill well. 200 good rows that show the task are a start.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A style needs few rows. Keep them varied, or the model repeats their topics.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LoRA learns facts poorly. For facts, keep the source text in the prompt as well.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training goes on from the adapter&apos;s weights, on the base it was made for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The library has no adapter yet. Train one first, then it can be gone on with.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a folder with a base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a GGUF file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GGUF (*.gguf);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None, Alpaca is used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the model …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model to go on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose an adapter to go on from.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ChatPage</name>
    <message>
        <source>Not loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine was closed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat engine has ended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1. The conversation is still here; nothing else was touched.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nearly full, begin a new chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, %2 tokens of context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask both the same</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every message goes to the columns that are switched on, base and adapter side by side.
Nothing leaves this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message; Return sends, Shift+Return breaks the line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nest, the sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model or an adapter to begin</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ChatRowView</name>
    <message>
        <source>Trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::CheckPage</name>
    <message>
        <source>Check</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What would stop the run or make it useless. Estimated, nothing has started yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take a smaller base model, or free memory on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rows at once %1 → %2, collected %3 → %4</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>max length %1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cheapest change: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Still the same rows a step, so the result is the same.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cannot start like this: %1 of memory is missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the engine what this machine can do …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model and data first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counting tokens …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This cannot be planned: a setting names layers the model does not have.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next opens when nothing stops the run.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ColumnCard</name>
    <message>
        <source>Adapter that answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Strength</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Strength of the adapter</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::DataPage</name>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model will really see. Nothing is dropped or cut silently.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Reading … %n row(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Bring your rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Records with an instruction and an answer, as Alpaca JSON or JSONL. Drop a file here, type its path, or try the stories that come with Lorikeet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Path of a JSON or JSONL file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Path of the data file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the sample stories</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lengths</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the rows are shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cannot write the list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Template</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a data file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>JSON or JSONL (*.json *.jsonl);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counting tokens …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, recognised</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Auto: the model&apos;s own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Auto: Alpaca</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None, plain text</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Split %1, %n row(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>None</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A file of its own…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Split %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a file for evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model first: its template and tokens are shown here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the rows …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose data to go on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No row can be used like this.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::EngineProcess</name>
    <message>
        <source>Cannot start the engine: %1 (%2)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine was killed, probably out of memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine ended with code %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ExportPage</name>
    <message>
        <source>Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take an adapter out of the library, for use elsewhere.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter for PEFT</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small folder for Python tools and for Lorikeet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Merged model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base and adapter as one safetensors folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exports</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you export is listed here with its progress.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bf16, as most models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>f16</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>f32, twice the size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weight type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name of the export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a folder for exports</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to export yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An adapter comes out of a training run. Once there is one, it can be taken away from here:
small for PEFT, or merged into its base.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the export a name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This folder is there already and not empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk has not enough room</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ExportRow</name>
    <message>
        <source>Starting …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tensor %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was left behind.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::HelpPage</name>
    <message>
        <source>Train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open Train and choose a base model: a folder with safetensors, a GGUF file, one from the Hugging Face cache, or the sample that comes with Lorikeet. Then choose your rows as Alpaca JSON or JSONL. Every page says what is missing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look before you train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The Data page shows rows as a table, as a conversation and as tokens. Marked tokens are trained; the others are context. The end token must be trained, or answers do not stop.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Watch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The live run shows loss, evaluation and speed. Pause, go on, write a checkpoint or stop and keep what was learnt. Close the window and the run goes on; open it and it is found again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare and take away</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat asks base and adapter the same. Export writes the adapter for PEFT, or merged into its base.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Home, Train, Runs, Library, Chat, Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings, Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New training run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One step back or on in the wizard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The filled button of the page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next or previous area of the window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search of the page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause the run, or go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write a checkpoint now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In a chart: move the cursor, show all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In the library: rename, move to trash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close, cancel, or back to the list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine was killed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Most often the memory ran out. Open the run: its last checkpoint is kept. Choose fewer rows at once, shorter rows or a smaller base, then go on from the checkpoint.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk is full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run waits in memory and nothing is lost. Free the space that is named, then try again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder is not a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A base model is a folder with config.json, safetensors weights and a tokenizer, or one GGUF file. Pickle files (.bin, .pt) can run code and are refused; convert them to safetensors.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers do not stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The end token was not trained: look at As tokens on the Data page, and raise max length if answers are cut.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every run keeps what its engine wrote in engine.log. Show log opens it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Topics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keyboard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings of a run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>If something fails</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Help text</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Histogram</name>
    <message>
        <source>Max length %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lengths of %1 rows, the longest has %2 tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::HomePage</name>
    <message>
        <source>Home</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Teach a small model your task, on this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New training run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Welcome to Lorikeet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Teach a small language model your task. Nothing leaves this machine; no account is needed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From a folder, a GGUF file or the Hugging Face cache. You see at once whether it fits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bring your rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Question and answer pairs as Alpaca JSON or JSONL. 200 good rows are a start.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare and keep</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask the base and your adapter the same question, side by side.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About a minute here, no download.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No runs yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs appear here with their loss, time and state.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on from an adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train it further with new data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base and adapter side by side</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export an adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For PEFT, or merged into its base</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 is finished. Ask it and its base the same questions before you export it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare in chat</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::JobRing</name>
    <message>
        <source>Run: %1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the run</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LibraryPage</name>
    <message>
        <source>Library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search adapters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups of adapters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on training…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No adapters yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An adapter is what training writes: a few megabytes that teach a base model your task.
Each one is kept here with the data, settings and run it came from.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sample needs about a minute on this machine and no download.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All adapters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trash</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n adapter(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n group(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n adapters chosen</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>The adapter&apos;s files are not there any more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move %1 to the trash?</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Move %n adapters to the trash?</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>It stays there for 30 days and can be put back. %1 become free after that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Light</name>
    <message>
        <source>Good</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stops</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LiveRun</name>
    <message>
        <source>All runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss, smoothed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Best</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Elapsed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cannot write the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop and keep</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens a second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory, GB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 left, about %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pauses after this step …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on from step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare in chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine ended before it could start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log says why</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The run waits for you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine was killed while it loaded, probably out of memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine was killed after step %1, probably out of memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing else was touched. No checkpoint was written yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing else was touched. The checkpoint of step %1 is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log of %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No step is done yet, so there is no adapter to keep.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was learnt up to step %1 is kept as an adapter; only the step that runs now is dropped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop this run and keep what it learnt?</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LossCard</name>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Raw</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smoothed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By epoch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the x axis counts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all (Home)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as picture…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the chart as a picture</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Picture (*.png)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as PDF…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the chart as PDF</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PDF (*.pdf)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save values as CSV…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the values</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV (*.csv)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LossChart</name>
    <message>
        <source>Loss chart, no step yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss chart: step %1 of %2, smoothed loss %3</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, evaluation %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smoothed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MachineCard</name>
    <message>
        <source>This machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RAM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine did not answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CUDA is used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The processor is used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training works, more slowly than on a GPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MainWindow</name>
    <message>
        <source>&amp;File</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New training run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paste</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find on this page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next area</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous area</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause or go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop and keep…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Main action of the page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stories, the sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Processor · %n thread(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RAM %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 · step %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine not found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MarkdownView</name>
    <message>
        <source>Open this link in the browser?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open link</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MethodPage</name>
    <message>
        <source>Method</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much of the model may change. A preset sets everything; you can change any part later.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What it sets</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change in Advanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset to Balanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base weights and adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much of the model may change. Each field shows its effect on memory at once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>What is set</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What %1 sets</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As stored, in 16 bits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>4.1 bits a weight. Same numbers as bitsandbytes, so the adapter works elsewhere.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank %1, alpha %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 weights are trained, %3.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All linear layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>In all %n block(s).</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>A quarter of the memory of 32-bit state.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full state in 32 bits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1, rate %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%1 schedule, warms up over %n step(s).</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 schedule, warms up over the first %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A value is outside its range.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model does not have the layers that are named.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ModelsModel</name>
    <message>
        <source>Folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GGUF file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nest, the sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comes with Lorikeet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hugging Face cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too large: %1 short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tight: %1 to spare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits, %1 to spare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Family</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Navigation</name>
    <message>
        <source>Home</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RefusedModel</name>
    <message>
        <source>Row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused because</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ReportCard</name>
    <message>
        <source>Report</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicates, kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Empty answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Split</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happens to longer rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Length in tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save list…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longer than %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused rows, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No row was refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model to count tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Median %1, longest %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the list of refused rows</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text (*.tsv)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RowPicker</name>
    <message>
        <source>Row before</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Random row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RowsModel</name>
    <message>
        <source>Row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Instruction</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Input</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunCard</name>
    <message>
        <source>Run card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Method</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter and gradients</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Activations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Work space</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens a step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not chosen yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 resident</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) used</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all linear</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>some layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Goes on from %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Estimated from the speed of an earlier run of this base</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Known after the first steps of a run on this base</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine did not answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A setting does not suit the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Does not fit: %1 short</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose data to see steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counting tokens …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No row can be used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tight, %1 to spare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits, %1 to spare</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunningCard</name>
    <message>
        <source>Running now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open live run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoint now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About %1 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evaluation %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunsModel</name>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>State</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finished</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunsPage</name>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search name, model or state</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New training run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No runs yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every training run is kept here with its loss, time and state, and can be
gone on with or repeated.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sample needs about a minute on this machine and no download.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) in %1</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare in chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log of %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SampleStrip</name>
    <message>
        <source>Sample answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes against the answer before are marked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Later answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Base, step 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Under the cursor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Before training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Newest</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SamplingPanel</name>
    <message>
        <source>Precise</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creative</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None; an adapter brings its own</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SettingsForm</name>
    <message>
        <source>On</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SettingsPage</name>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System follows the desktop&apos;s light or dark setting.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Names of models, paths and commands stay as they are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folders</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Home</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs, library and exports lie here. LORIKEET_HOME chooses another folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trains, chats and exports in a process of its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The studio is free software under the GNU General Public License, version 3 or later; the engine is under the Apache License 2.0. Nothing is sent anywhere.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::StartPage</name>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything below is stored with the run, so it can be repeated.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What will be saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter, PEFT</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log, curves, sample answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Job file, repeats the run exactly</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same as a command</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>up to %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the run a name.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Stepper</name>
    <message>
        <source>current step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>look again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>open</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TokenRowView</name>
    <message>
        <source>Trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Special</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut away</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show ids</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Begin token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No begin token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End token trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No end token trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trained, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context, %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TokenView</name>
    <message>
        <source>Tokens of the row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cut away</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token %1: %2 · id %3 · bytes %4 · %5</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> · special</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TrainingPage</name>
    <message>
        <source>Training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long it learns and how you watch it. Advanced shows schedule, packing and seed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Watching and keeping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Schedule, rows and machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sample prompts, answered at each evaluation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New sample prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add the prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A value is outside its range.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::WizardPage</name>
    <message>
        <source>Simple</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much is shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start training</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
