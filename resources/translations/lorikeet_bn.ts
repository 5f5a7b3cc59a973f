<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="bn_BD">
<context>
    <name>CheckText</name>
    <message>
        <source>Memory</source>
        <translation>মেমরি</translation>
    </message>
    <message numerus="yes">
        <source>Estimated peak. %n layer(s) are computed again on the way back to save memory.</source>
        <translation>
            <numerusform>আনুমানিক সর্বোচ্চ। মেমরি বাঁচাতে %Lnটি স্তর ফেরার পথে আবার গণনা করা হয়।</numerusform>
            <numerusform>আনুমানিক সর্বোচ্চ। মেমরি বাঁচাতে %Lnটি স্তর ফেরার পথে আবার গণনা করা হয়।</numerusform>
        </translation>
    </message>
    <message>
        <source>Estimated peak of the longest batch.</source>
        <translation>সবচেয়ে লম্বা ব্যাচের আনুমানিক সর্বোচ্চ।</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2-এর মধ্যে %1</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>বদলান</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>ধাপ</translation>
    </message>
    <message>
        <source>Too short to learn much; 20 steps or more are advised. Raise the epochs or collect fewer batches.</source>
        <translation>বেশি শেখার পক্ষে খুব ছোট; ২০ বা বেশি ধাপ ভালো। epoch বাড়ান বা কম ব্যাচ জমান।</translation>
    </message>
    <message>
        <source>%1 to an epoch, evaluated every %2.</source>
        <translation>প্রতি epoch-এ %1, প্রতি %2 ধাপে মূল্যায়ন।</translation>
    </message>
    <message>
        <source>Template and end token</source>
        <translation>টেমপ্লেট ও শেষ টোকেন</translation>
    </message>
    <message>
        <source>The trained end token is the one that chat and export stop at.</source>
        <translation>যে শেষ টোকেন শেখানো হয়, চ্যাট ও রপ্তানি সেটিতেই থামে।</translation>
    </message>
    <message>
        <source>This template has no end token: answers end only at the longest length.</source>
        <translation>এই টেমপ্লেটে শেষ টোকেন নেই: উত্তর কেবল দীর্ঘতম সীমায় থামে।</translation>
    </message>
    <message>
        <source>No row ends with the end token, so the model does not learn to stop.</source>
        <translation>কোনো সারি শেষ টোকেনে শেষ হয় না, তাই মডেল থামতে শেখে না।</translation>
    </message>
    <message>
        <source>Look at tokens</source>
        <translation>টোকেন দেখুন</translation>
    </message>
    <message>
        <source>%1 of %2 rows end with the end token; the others are cut before it.</source>
        <translation>%2 সারির %1টি শেষ টোকেনে শেষ হয়; বাকিগুলি তার আগে কাটা।</translation>
    </message>
    <message>
        <source>Row lengths</source>
        <translation>সারির দৈর্ঘ্য</translation>
    </message>
    <message>
        <source>Every row fits into %1 tokens.</source>
        <translation>প্রতিটি সারি %1 টোকেনে ধরে।</translation>
    </message>
    <message>
        <source>are left out</source>
        <translation>বাদ যায়</translation>
    </message>
    <message>
        <source>are split</source>
        <translation>ভাগ হয়</translation>
    </message>
    <message>
        <source>are cut</source>
        <translation>কাটা হয়</translation>
    </message>
    <message>
        <source>%1 rows are longer than %2 tokens and %3.</source>
        <translation>%1টি সারি %2 টোকেনের চেয়ে লম্বা, তাই %3।</translation>
    </message>
    <message>
        <source>Show rows</source>
        <translation>সারি দেখুন</translation>
    </message>
    <message>
        <source>Answers left after masking</source>
        <translation>মাস্কের পরে থাকা উত্তর</translation>
    </message>
    <message>
        <source>%1 of %2 tokens of an epoch are trained.</source>
        <translation>এক epoch-এর %2 টোকেনের %1টি শেখানো হয়।</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>সারি</translation>
    </message>
    <message>
        <source>Every row of the file is used.</source>
        <translation>ফাইলের প্রতিটি সারি ব্যবহৃত হয়।</translation>
    </message>
    <message>
        <source>%1 of %2 rows are not used.</source>
        <translation>%2 সারির %1টি ব্যবহৃত হয় না।</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>শেখার হার</translation>
    </message>
    <message>
        <source>Usual for LoRA: 1e-4 to 3e-4.</source>
        <translation>LoRA-র জন্য সাধারণ: 1e-4 থেকে 3e-4।</translation>
    </message>
    <message>
        <source>Higher than usual; training may not converge. Usual for LoRA: 1e-4 to 3e-4.</source>
        <translation>সাধারণের চেয়ে বেশি; প্রশিক্ষণ স্থির নাও হতে পারে। LoRA-র জন্য সাধারণ: 1e-4 থেকে 3e-4।</translation>
    </message>
    <message>
        <source>Lower than usual; little is learnt. Usual for LoRA: 1e-4 to 3e-4.</source>
        <translation>সাধারণের চেয়ে কম; অল্পই শেখা হয়। LoRA-র জন্য সাধারণ: 1e-4 থেকে 3e-4।</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>মূল্যায়ন</translation>
    </message>
    <message>
        <source>%1 rows are kept apart to see what was learnt.</source>
        <translation>কী শেখা হলো দেখতে %1টি সারি আলাদা রাখা আছে।</translation>
    </message>
    <message>
        <source>No row is kept for evaluation, so overfitting would not be seen.</source>
        <translation>মূল্যায়নের জন্য কোনো সারি নেই, তাই overfitting ধরা পড়বে না।</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ডিস্ক</translation>
    </message>
    <message>
        <source>Checkpoints, adapter and log.</source>
        <translation>চেকপয়েন্ট, অ্যাডাপ্টার ও লগ।</translation>
    </message>
    <message>
        <source>Free %1 on the disk that holds the runs.</source>
        <translation>রান যে ডিস্কে থাকে সেখানে %1 খালি করুন।</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>প্রসঙ্গ</translation>
    </message>
    <message>
        <source>Max length is above the model&apos;s %1 tokens: positions are stretched.</source>
        <translation>সর্বোচ্চ দৈর্ঘ্য মডেলের %1 টোকেনের বেশি: অবস্থান টেনে বাড়ানো হয়।</translation>
    </message>
    <message>
        <source>No GPU can be used.</source>
        <translation>কোনো GPU ব্যবহার করা যায় না।</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>ডিভাইস</translation>
    </message>
    <message>
        <source>Set the device to automatic or processor.</source>
        <translation>ডিভাইস স্বয়ংক্রিয় বা প্রসেসর করুন।</translation>
    </message>
    <message>
        <source>Offload</source>
        <translation>বাইরে রাখা</translation>
    </message>
    <message>
        <source>Number type</source>
        <translation>সংখ্যার ধরন</translation>
    </message>
    <message>
        <source>The processor is used.</source>
        <translation>প্রসেসর ব্যবহৃত হচ্ছে।</translation>
    </message>
</context>
<context>
    <name>FormatText</name>
    <message>
        <source>s</source>
        <translation>সে</translation>
    </message>
    <message>
        <source>min</source>
        <translation>মিনিট</translation>
    </message>
    <message>
        <source>h</source>
        <translation>ঘ</translation>
    </message>
    <message>
        <source>Today, %1</source>
        <translation>আজ, %1</translation>
    </message>
    <message>
        <source>Yesterday, %1</source>
        <translation>গতকাল, %1</translation>
    </message>
</context>
<context>
    <name>PresetText</name>
    <message>
        <source>Fast</source>
        <translation>দ্রুত</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>ভারসাম্য</translation>
    </message>
    <message>
        <source>Thorough</source>
        <translation>গভীর</translation>
    </message>
    <message>
        <source>Own</source>
        <translation>নিজস্ব</translation>
    </message>
    <message>
        <source>Rank 8, attention only. To see whether the data works.</source>
        <translation>র‍্যাঙ্ক ৮, কেবল attention। ডেটা কাজ করে কি না দেখতে।</translation>
    </message>
    <message>
        <source>Rank 32, all linear layers. Right for most tasks.</source>
        <translation>র‍্যাঙ্ক ৩২, সব রৈখিক স্তর। বেশিরভাগ কাজের জন্য ঠিক।</translation>
    </message>
    <message>
        <source>Rank 64, all linear layers, sees each row more often.</source>
        <translation>র‍্যাঙ্ক ৬৪, সব রৈখিক স্তর, প্রতিটি সারি বেশিবার দেখে।</translation>
    </message>
</context>
<context>
    <name>QDialog</name>
    <message>
        <source>Cancel</source>
        <translation>বাতিল</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>বন্ধ</translation>
    </message>
    <message>
        <source>The log is empty.</source>
        <translation>লগ খালি।</translation>
    </message>
</context>
<context>
    <name>RowPreviewText</name>
    <message>
        <source>System</source>
        <translation>সিস্টেম</translation>
    </message>
    <message>
        <source>User</source>
        <translation>ব্যবহারকারী</translation>
    </message>
    <message>
        <source>Assistant</source>
        <translation>সহকারী</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>প্রম্পট</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>উত্তর</translation>
    </message>
    <message>
        <source>Row %1 is left out: it has %2 tokens</source>
        <translation>সারি %1 বাদ গেছে: এতে %2 টোকেন</translation>
    </message>
    <message>
        <source>Row %1 is cut here, after token %2</source>
        <translation>সারি %1 এখানে কাটা, টোকেন %2-এর পরে</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>লেখা</translation>
    </message>
    <message>
        <source>Tool</source>
        <translation>টুল</translation>
    </message>
</context>
<context>
    <name>RunSeries</name>
    <message>
        <source>Step</source>
        <translation>ধাপ</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>Epoch</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>টোকেন</translation>
    </message>
    <message>
        <source>Minutes</source>
        <translation>মিনিট</translation>
    </message>
</context>
<context>
    <name>RunWords</name>
    <message>
        <source>Starting</source>
        <translation>শুরু হচ্ছে</translation>
    </message>
    <message>
        <source>Not started</source>
        <translation>শুরু হয়নি</translation>
    </message>
    <message>
        <source>Paused, closed</source>
        <translation>বিরতিতে, বন্ধ</translation>
    </message>
    <message>
        <source>Ended early</source>
        <translation>আগে শেষ</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>লোড হচ্ছে</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>Evaluating</source>
        <translation>মূল্যায়ন চলছে</translation>
    </message>
    <message>
        <source>Pausing</source>
        <translation>বিরতি নিচ্ছে</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>বিরতিতে</translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation>আপনার অপেক্ষায়</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>থামছে</translation>
    </message>
    <message>
        <source>Stopped, kept</source>
        <translation>থামানো, রক্ষিত</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>সম্পন্ন</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>ব্যর্থ</translation>
    </message>
</context>
<context>
    <name>SettingText</name>
    <message>
        <source>None, 16-bit</source>
        <translation>কিছু না, ১৬-বিট</translation>
    </message>
    <message>
        <source>Allowed: %1 to %2</source>
        <translation>অনুমোদিত: %1 থেকে %2</translation>
    </message>
    <message>
        <source>Default: %1</source>
        <translation>ডিফল্ট: %1</translation>
    </message>
</context>
<context>
    <name>SettingWords</name>
    <message>
        <source>Quantisation</source>
        <translation>কোয়ান্টাইজেশন</translation>
    </message>
    <message>
        <source>Number type</source>
        <translation>সংখ্যার ধরন</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>র‍্যাঙ্ক</translation>
    </message>
    <message>
        <source>Alpha</source>
        <translation>আলফা</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>স্তর</translation>
    </message>
    <message>
        <source>Dropout</source>
        <translation>ড্রপআউট</translation>
    </message>
    <message>
        <source>Noise on embeddings</source>
        <translation>এমবেডিংয়ে নয়েজ</translation>
    </message>
    <message>
        <source>Left out at random, against learning by heart. Usual: 0 to 0.1.</source>
        <translation>এলোমেলোভাবে বাদ দেওয়া অংশ, মুখস্থ করা ঠেকায়। সাধারণত ০ থেকে ০.১।</translation>
    </message>
    <message>
        <source>NEFTune. Usual: 5; 0 turns it off.</source>
        <translation>NEFTune। সাধারণত ৫; ০ দিলে বন্ধ থাকে।</translation>
    </message>
    <message>
        <source>Rank-stabilised scale</source>
        <translation>র‍্যাঙ্ক-স্থির স্কেল</translation>
    </message>
    <message>
        <source>Template</source>
        <translation>টেমপ্লেট</translation>
    </message>
    <message>
        <source>System text</source>
        <translation>সিস্টেম লেখা</translation>
    </message>
    <message>
        <source>Train on</source>
        <translation>কিসে শেখানো</translation>
    </message>
    <message>
        <source>Max length</source>
        <translation>সর্বোচ্চ দৈর্ঘ্য</translation>
    </message>
    <message>
        <source>Longer rows</source>
        <translation>লম্বা সারি</translation>
    </message>
    <message>
        <source>Packing</source>
        <translation>প্যাকিং</translation>
    </message>
    <message>
        <source>Evaluation share</source>
        <translation>মূল্যায়নের অংশ</translation>
    </message>
    <message>
        <source>Shuffle</source>
        <translation>এলোমেলো ক্রম</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>সিড</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>Epoch</translation>
    </message>
    <message>
        <source>Max steps</source>
        <translation>সর্বোচ্চ ধাপ</translation>
    </message>
    <message>
        <source>Rows at once</source>
        <translation>একবারে সারি</translation>
    </message>
    <message>
        <source>Collected</source>
        <translation>জমানো</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>শেখার হার</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>সময়সূচি</translation>
    </message>
    <message>
        <source>Lowest rate</source>
        <translation>সর্বনিম্ন হার</translation>
    </message>
    <message>
        <source>Warm-up share</source>
        <translation>ওয়ার্ম-আপ অংশ</translation>
    </message>
    <message>
        <source>Warm-up steps</source>
        <translation>ওয়ার্ম-আপ ধাপ</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>ওয়েট ক্ষয়</translation>
    </message>
    <message>
        <source>Gradient clip</source>
        <translation>গ্রেডিয়েন্ট সীমা</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>অপ্টিমাইজার</translation>
    </message>
    <message>
        <source>Evaluate every</source>
        <translation>মূল্যায়ন প্রতি</translation>
    </message>
    <message>
        <source>Checkpoint every</source>
        <translation>চেকপয়েন্ট প্রতি</translation>
    </message>
    <message>
        <source>Checkpoints kept</source>
        <translation>রাখা চেকপয়েন্ট</translation>
    </message>
    <message>
        <source>Stop early</source>
        <translation>আগে থামা</translation>
    </message>
    <message>
        <source>Group by length</source>
        <translation>দৈর্ঘ্য অনুযায়ী সাজানো</translation>
    </message>
    <message>
        <source>Ends after this many evaluations without gain; 0 never does.</source>
        <translation>এতগুলি মূল্যায়নে উন্নতি না হলে শেষ হয়; ০ দিলে কখনও নয়।</translation>
    </message>
    <message>
        <source>Rows of similar length in one step; for runs without packing.</source>
        <translation>এক ধাপে কাছাকাছি দৈর্ঘ্যের সারি; প্যাকিং ছাড়া রানের জন্য।</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>ডিভাইস</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>থ্রেড</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation>মেমরির সীমা</translation>
    </message>
    <message>
        <source>NF4, double</source>
        <translation>NF4, দ্বিগুণ</translation>
    </message>
    <message>
        <source>NF4, single</source>
        <translation>NF4, একক</translation>
    </message>
    <message>
        <source>FP4, double</source>
        <translation>FP4, দ্বিগুণ</translation>
    </message>
    <message>
        <source>INT8</source>
        <translation>INT8</translation>
    </message>
    <message>
        <source>None</source>
        <translation>কিছু না</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>স্বয়ংক্রিয়</translation>
    </message>
    <message>
        <source>Answers only</source>
        <translation>কেবল উত্তর</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>সবকিছু</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>কাটুন</translation>
    </message>
    <message>
        <source>Drop</source>
        <translation>বাদ দিন</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>ভাগ করুন</translation>
    </message>
    <message>
        <source>Linear</source>
        <translation>রৈখিক</translation>
    </message>
    <message>
        <source>Cosine</source>
        <translation>কোসাইন</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>অপরিবর্তিত</translation>
    </message>
    <message>
        <source>AdamW, 8-bit</source>
        <translation>AdamW, ৮-বিট</translation>
    </message>
    <message>
        <source>AdamW, 32-bit</source>
        <translation>AdamW, ৩২-বিট</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>প্রসেসর</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>টোকেন</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>ধাপ</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>সারি</translation>
    </message>
    <message>
        <source>epochs</source>
        <translation>epoch</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>বাইট</translation>
    </message>
    <message>
        <source>How the frozen weights are kept. NF4 needs a quarter of 16-bit.</source>
        <translation>স্থির ওয়েট কীভাবে রাখা হয়। NF4-এ ১৬-বিটের চার ভাগের এক ভাগ লাগে।</translation>
    </message>
    <message>
        <source>Number type of the products. Automatic takes bf16 where the device has it.</source>
        <translation>গুণফলের সংখ্যার ধরন। স্বয়ংক্রিয় হলে ডিভাইসে থাকলে bf16 নেয়।</translation>
    </message>
    <message>
        <source>Size of the adapter. Usual: 8 to 64.</source>
        <translation>অ্যাডাপ্টারের আকার। সাধারণ: ৮ থেকে ৬৪।</translation>
    </message>
    <message>
        <source>Scale of the adapter. Usual: equal to the rank.</source>
        <translation>অ্যাডাপ্টারের মাত্রা। সাধারণ: র‍্যাঙ্কের সমান।</translation>
    </message>
    <message>
        <source>all-linear, or names such as q_proj,v_proj.</source>
        <translation>all-linear, বা q_proj,v_proj-এর মতো নাম।</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>পূর্বনির্ধারিত</translation>
    </message>
    <message>
        <source>LoftQ</source>
        <translation>LoftQ</translation>
    </message>
    <message>
        <source>Magnitude apart (DoRA)</source>
        <translation>মান আলাদা (DoRA)</translation>
    </message>
    <message>
        <source>Start values</source>
        <translation>শুরুর মান</translation>
    </message>
    <message>
        <source>Often better at low ranks; a step takes a third longer.</source>
        <translation>কম র‍্যাঙ্কে প্রায়ই ভালো; প্রতিটি ধাপে এক-তৃতীয়াংশ বেশি সময় লাগে।</translation>
    </message>
    <message>
        <source>LoftQ makes up for what quantisation took from the base.</source>
        <translation>কোয়ান্টাইজেশনে ভিত্তি যা হারায়, LoftQ তা পুষিয়ে দেয়।</translation>
    </message>
    <message>
        <source>Alpha over the root of the rank, for rank 64 and up.</source>
        <translation>আলফা ভাগ র‍্যাঙ্কের বর্গমূল, র‍্যাঙ্ক ৬৪ থেকে।</translation>
    </message>
    <message>
        <source>Answers only is right for most tasks.</source>
        <translation>বেশিরভাগ কাজের জন্য কেবল উত্তর ঠিক।</translation>
    </message>
    <message>
        <source>Longest row. Automatic: 1,024 or the model&apos;s context.</source>
        <translation>দীর্ঘতম সারি। স্বয়ংক্রিয়: ১,০২৪ বা মডেলের প্রসঙ্গ।</translation>
    </message>
    <message>
        <source>Fills each row with several texts that never see each other.</source>
        <translation>প্রতিটি সারি কয়েকটি লেখা দিয়ে ভরে, যারা একে অন্যকে দেখে না।</translation>
    </message>
    <message>
        <source>Put before every conversation.</source>
        <translation>প্রতিটি কথোপকথনের আগে বসে।</translation>
    </message>
    <message>
        <source>Share of the rows kept for evaluation.</source>
        <translation>মূল্যায়নের জন্য রাখা সারির অংশ।</translation>
    </message>
    <message>
        <source>A new order every epoch.</source>
        <translation>প্রতি epoch-এ নতুন ক্রম।</translation>
    </message>
    <message>
        <source>The same seed gives the same run.</source>
        <translation>একই সিড একই রান দেয়।</translation>
    </message>
    <message>
        <source>How often each row is seen.</source>
        <translation>প্রতিটি সারি কতবার দেখা হয়।</translation>
    </message>
    <message>
        <source>Overrides the epochs when it is not 0.</source>
        <translation>০ না হলে epoch-এর বদলে এটি চলে।</translation>
    </message>
    <message>
        <source>Usual for LoRA: 1e-4 to 3e-4.</source>
        <translation>LoRA-র জন্য সাধারণ: 1e-4 থেকে 3e-4।</translation>
    </message>
    <message>
        <source>Rows computed at once. Only this costs memory.</source>
        <translation>একবারে গণনা করা সারি। কেবল এতে মেমরি লাগে।</translation>
    </message>
    <message>
        <source>Batches collected for one step. Costs no memory.</source>
        <translation>এক ধাপের জন্য জমানো ব্যাচ। মেমরি লাগে না।</translation>
    </message>
    <message>
        <source>How the rate falls over the run.</source>
        <translation>রানের সঙ্গে হার কীভাবে কমে।</translation>
    </message>
    <message>
        <source>Where the rate ends.</source>
        <translation>হার যেখানে শেষ হয়।</translation>
    </message>
    <message>
        <source>Share of the run in which the rate rises.</source>
        <translation>রানের যে অংশে হার বাড়ে।</translation>
    </message>
    <message>
        <source>Overrides the share when it is not 0.</source>
        <translation>০ না হলে অংশের বদলে এটি চলে।</translation>
    </message>
    <message>
        <source>Pulls the adapter towards zero.</source>
        <translation>অ্যাডাপ্টারকে শূন্যের দিকে টানে।</translation>
    </message>
    <message>
        <source>Longer gradients are shortened; 0 turns that off.</source>
        <translation>লম্বা গ্রেডিয়েন্ট ছোট করা হয়; ০ দিলে বন্ধ।</translation>
    </message>
    <message>
        <source>8-bit needs a quarter of the memory.</source>
        <translation>৮-বিটে চার ভাগের এক ভাগ মেমরি লাগে।</translation>
    </message>
    <message>
        <source>Automatic: a tenth of the run, 10 steps at least.</source>
        <translation>স্বয়ংক্রিয়: রানের দশ ভাগের এক ভাগ, অন্তত ১০ ধাপ।</translation>
    </message>
    <message>
        <source>Older ones go when a newer one is proven whole.</source>
        <translation>নতুনটি ঠিক আছে দেখার পরে পুরনোগুলি যায়।</translation>
    </message>
    <message>
        <source>Automatic takes a GPU where there is one.</source>
        <translation>স্বয়ংক্রিয় হলে GPU থাকলে নেয়।</translation>
    </message>
    <message>
        <source>Automatic takes all cores.</source>
        <translation>স্বয়ংক্রিয় হলে সব কোর নেয়।</translation>
    </message>
    <message>
        <source>Most memory the run may take, such as 6GB.</source>
        <translation>রান সবচেয়ে বেশি যত মেমরি নিতে পারে, যেমন 6GB।</translation>
    </message>
    <message>
        <source>Offload</source>
        <translation>বাইরে রাখা</translation>
    </message>
    <message>
        <source>Longer rows fit on the GPU, a little slower.</source>
        <translation>GPU-তে আরও লম্বা সারি ধরে, একটু ধীরে।</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>কলাম</translation>
    </message>
    <message>
        <source>Empty answers</source>
        <translation>খালি উত্তর</translation>
    </message>
    <message>
        <source>Nested values</source>
        <translation>ভেতরের মান</translation>
    </message>
    <message>
        <source>Duplicates</source>
        <translation>হুবহু এক সারি</translation>
    </message>
    <message>
        <source>By their names, or such as instruction=question,output=answer.</source>
        <translation>নাম অনুযায়ী, অথবা যেমন instruction=question,output=answer।</translation>
    </message>
    <message>
        <source>Kept rows train the end of an answer alone.</source>
        <translation>রাখা সারি শুধু উত্তরের শেষটুকু শেখায়।</translation>
    </message>
    <message>
        <source>Lists and objects where a text is expected.</source>
        <translation>যেখানে লেখা চাই সেখানে তালিকা বা অবজেক্ট।</translation>
    </message>
    <message>
        <source>Later copies of a row.</source>
        <translation>একটি সারির পরের অনুলিপি।</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>বাদ দেওয়া</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>রাখা</translation>
    </message>
    <message>
        <source>As JSON text</source>
        <translation>JSON লেখা হিসেবে</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::AdaptersModel</name>
    <message>
        <source>Missing</source>
        <translation>নেই</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>ভালো</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>নাম</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>সংস্করণ</translation>
    </message>
    <message>
        <source>Base model</source>
        <translation>বেস মডেল</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>ডেটা</translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation>মূল্যায়ন লস</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>তৈরি</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>আকার</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>ফাইল</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::AnswerCard</name>
    <message>
        <source>Answer of %1</source>
        <translation>%1-এর উত্তর</translation>
    </message>
    <message>
        <source>Copy the answer</source>
        <translation>উত্তর কপি করুন</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>আবার উত্তর দিন</translation>
    </message>
    <message>
        <source>Stop this answer</source>
        <translation>এই উত্তর থামান</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%Lnটি টোকেন</numerusform>
            <numerusform>%Lnটি টোকেন</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 টোকেন/সে</translation>
    </message>
    <message>
        <source>waits for its turn</source>
        <translation>পালার অপেক্ষায়</translation>
    </message>
    <message>
        <source>answering</source>
        <translation>উত্তর দিচ্ছে</translation>
    </message>
    <message>
        <source>longest answer reached</source>
        <translation>দীর্ঘতম উত্তর হয়েছে</translation>
    </message>
    <message>
        <source>context full</source>
        <translation>প্রসঙ্গ পূর্ণ</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>থামানো</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::BasePage</name>
    <message>
        <source>Base model</source>
        <translation>বেস মডেল</translation>
    </message>
    <message>
        <source>The model that learns. Its weights stay unchanged; training writes a small adapter beside it.</source>
        <translation>যে মডেল শেখে। তার ওয়েট বদলায় না; প্রশিক্ষণ পাশে একটি ছোট অ্যাডাপ্টার লেখে।</translation>
    </message>
    <message>
        <source>Base models on this machine</source>
        <translation>এই মেশিনের বেস মডেল</translation>
    </message>
    <message>
        <source>I want to teach</source>
        <translation>আমি শেখাতে চাই</translation>
    </message>
    <message>
        <source>A task</source>
        <translation>একটি কাজ</translation>
    </message>
    <message>
        <source>A style</source>
        <translation>একটি শৈলী</translation>
    </message>
    <message>
        <source>Facts</source>
        <translation>তথ্য</translation>
    </message>
    <message>
        <source>Go on from an adapter</source>
        <translation>অ্যাডাপ্টার থেকে এগোন</translation>
    </message>
    <message>
        <source>Adapter to go on from</source>
        <translation>যে অ্যাডাপ্টার থেকে এগোবেন</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>অ্যাডাপ্টার</translation>
    </message>
    <message>
        <source>Search name or family, or type a path</source>
        <translation>নাম বা পরিবার খুঁজুন, বা পাথ লিখুন</translation>
    </message>
    <message>
        <source>Search base models</source>
        <translation>বেস মডেল খুঁজুন</translation>
    </message>
    <message>
        <source>Open folder or GGUF…</source>
        <translation>ফোল্ডার বা GGUF খুলুন…</translation>
    </message>
    <message>
        <source>Folder with safetensors…</source>
        <translation>safetensors-সহ ফোল্ডার…</translation>
    </message>
    <message>
        <source>GGUF file…</source>
        <translation>GGUF ফাইল…</translation>
    </message>
    <message>
        <source>Try in chat</source>
        <translation>চ্যাটে দেখুন</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>পরিবার</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>স্তর</translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation>শব্দভান্ডার</translation>
    </message>
    <message>
        <source>Weights on disk</source>
        <translation>ডিস্কে ওয়েট</translation>
    </message>
    <message>
        <source>End of answer</source>
        <translation>উত্তরের শেষ</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>চ্যাট টেমপ্লেট</translation>
    </message>
    <message>
        <source>LoRA learns form and skill well. 200 good rows that show the task are a start.</source>
        <translation>LoRA রূপ ও দক্ষতা ভালো শেখে। কাজটি দেখায় এমন ২০০ ভালো সারি দিয়ে শুরু করা যায়।</translation>
    </message>
    <message>
        <source>A style needs few rows. Keep them varied, or the model repeats their topics.</source>
        <translation>শৈলীর জন্য অল্প সারি লাগে। বিষয় বিচিত্র রাখুন, নইলে মডেল একই বিষয় বলে।</translation>
    </message>
    <message>
        <source>LoRA learns facts poorly. For facts, keep the source text in the prompt as well.</source>
        <translation>LoRA তথ্য ভালো শেখে না। তথ্যের জন্য মূল লেখাটিও প্রম্পটে রাখুন।</translation>
    </message>
    <message>
        <source>Training goes on from the adapter&apos;s weights, on the base it was made for.</source>
        <translation>প্রশিক্ষণ অ্যাডাপ্টারের ওয়েট থেকে, তার নিজের বেসের উপর এগোয়।</translation>
    </message>
    <message>
        <source>The library has no adapter yet. Train one first, then it can be gone on with.</source>
        <translation>লাইব্রেরিতে এখনো অ্যাডাপ্টার নেই। আগে একটি শেখান, তারপর সেখান থেকে এগোনো যায়।</translation>
    </message>
    <message>
        <source>Open a folder with a base model</source>
        <translation>বেস মডেলের ফোল্ডার খুলুন</translation>
    </message>
    <message>
        <source>Open a GGUF file</source>
        <translation>GGUF ফাইল খুলুন</translation>
    </message>
    <message>
        <source>GGUF (*.gguf);;All files (*)</source>
        <translation>GGUF (*.gguf);;সব ফাইল (*)</translation>
    </message>
    <message>
        <source>The model&apos;s own</source>
        <translation>মডেলের নিজের</translation>
    </message>
    <message>
        <source>None, Alpaca is used</source>
        <translation>নেই, Alpaca ব্যবহৃত হয়</translation>
    </message>
    <message>
        <source>Reading the model …</source>
        <translation>মডেল পড়া হচ্ছে …</translation>
    </message>
    <message>
        <source>Choose a base model to go on.</source>
        <translation>এগোতে একটি বেস মডেল বাছুন।</translation>
    </message>
    <message>
        <source>Choose an adapter to go on from.</source>
        <translation>এগোতে একটি অ্যাডাপ্টার বাছুন।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ChatPage</name>
    <message>
        <source>Not loaded</source>
        <translation>লোড হয়নি</translation>
    </message>
    <message>
        <source>The engine was closed</source>
        <translation>ইঞ্জিন বন্ধ করা হয়েছে</translation>
    </message>
    <message>
        <source>The chat engine has ended</source>
        <translation>চ্যাটের ইঞ্জিন থেমে গেছে</translation>
    </message>
    <message>
        <source>%1. The conversation is still here; nothing else was touched.</source>
        <translation>%1। কথোপকথন এখানেই আছে; আর কিছু ছোঁয়া হয়নি।</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>আবার শুরু</translation>
    </message>
    <message>
        <source>Context %1 of %2</source>
        <translation>প্রসঙ্গ %2-এর %1</translation>
    </message>
    <message>
        <source>nearly full, begin a new chat</source>
        <translation>প্রায় পূর্ণ, নতুন চ্যাট শুরু করুন</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>চ্যাট</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>নতুন চ্যাট</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>স্যাম্পলিং</translation>
    </message>
    <message>
        <source>%1, %2 tokens of context</source>
        <translation>%1, প্রসঙ্গ %2 টোকেন</translation>
    </message>
    <message>
        <source>Ask both the same</source>
        <translation>দুজনকেই একই প্রশ্ন</translation>
    </message>
    <message>
        <source>Every message goes to the columns that are switched on, base and adapter side by side.
Nothing leaves this machine.</source>
        <translation>প্রতিটি বার্তা চালু কলামগুলিতে যায়, বেস ও অ্যাডাপ্টার পাশাপাশি।
এই মেশিনের বাইরে কিছু যায় না।</translation>
    </message>
    <message>
        <source>Message; Return sends, Shift+Return breaks the line</source>
        <translation>বার্তা; Return পাঠায়, Shift+Return নতুন লাইন</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>বার্তা</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>পাঠান</translation>
    </message>
    <message>
        <source>nest, the sample</source>
        <translation>nest, নমুনা</translation>
    </message>
    <message>
        <source>Choose a base model</source>
        <translation>একটি বেস মডেল বাছুন</translation>
    </message>
    <message>
        <source>No adapter</source>
        <translation>অ্যাডাপ্টার ছাড়া</translation>
    </message>
    <message>
        <source>Loading …</source>
        <translation>লোড হচ্ছে …</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>থামান</translation>
    </message>
    <message>
        <source>Choose a base model or an adapter to begin</source>
        <translation>শুরু করতে একটি বেস মডেল বা অ্যাডাপ্টার বাছুন</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ChatRowView</name>
    <message>
        <source>Trained</source>
        <translation>শেখানো</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>প্রসঙ্গ</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::CheckPage</name>
    <message>
        <source>Check</source>
        <translation>যাচাই</translation>
    </message>
    <message>
        <source>What would stop the run or make it useless. Estimated, nothing has started yet.</source>
        <translation>কী রান থামাবে বা বৃথা করবে। অনুমান; এখনো কিছু শুরু হয়নি।</translation>
    </message>
    <message>
        <source>Take a smaller base model, or free memory on this machine.</source>
        <translation>ছোট বেস মডেল নিন, বা এই মেশিনে মেমরি খালি করুন।</translation>
    </message>
    <message>
        <source>rows at once %1 → %2, collected %3 → %4</source>
        <translation>একবারে সারি %1 → %2, জমানো %3 → %4</translation>
    </message>
    <message>
        <source>max length %1 → %2</source>
        <translation>সর্বোচ্চ দৈর্ঘ্য %1 → %2</translation>
    </message>
    <message>
        <source>rank %1 → %2</source>
        <translation>র‍্যাঙ্ক %1 → %2</translation>
    </message>
    <message>
        <source>Cheapest change: %1.</source>
        <translation>সবচেয়ে সহজ বদল: %1।</translation>
    </message>
    <message>
        <source>Still the same rows a step, so the result is the same.</source>
        <translation>ধাপে একই সংখ্যক সারি থাকে, তাই ফল একই।</translation>
    </message>
    <message>
        <source>Cannot start like this: %1 of memory is missing</source>
        <translation>এভাবে শুরু করা যায় না: %1 মেমরি কম</translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation>মানিয়ে নিন</translation>
    </message>
    <message>
        <source>Asking the engine what this machine can do …</source>
        <translation>ইঞ্জিনকে জিজ্ঞাসা করা হচ্ছে এই মেশিন কী পারে …</translation>
    </message>
    <message>
        <source>Choose a base model and data first.</source>
        <translation>আগে একটি বেস মডেল ও ডেটা বাছুন।</translation>
    </message>
    <message>
        <source>Counting tokens …</source>
        <translation>টোকেন গোনা হচ্ছে …</translation>
    </message>
    <message>
        <source>This cannot be planned: a setting names layers the model does not have.</source>
        <translation>এর পরিকল্পনা করা যায় না: একটি সেটিং এমন স্তরের নাম বলে যা মডেলে নেই।</translation>
    </message>
    <message>
        <source>Next opens when nothing stops the run.</source>
        <translation>কিছু না আটকালে পরের ধাপ খুলবে।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ColumnCard</name>
    <message>
        <source>Adapter that answers</source>
        <translation>যে অ্যাডাপ্টার উত্তর দেয়</translation>
    </message>
    <message>
        <source>Base model</source>
        <translation>বেস মডেল</translation>
    </message>
    <message>
        <source>Strength</source>
        <translation>মাত্রা</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>উত্তর দেয়</translation>
    </message>
    <message>
        <source>Strength of the adapter</source>
        <translation>অ্যাডাপ্টারের মাত্রা</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::DataPage</name>
    <message>
        <source>Data</source>
        <translation>ডেটা</translation>
    </message>
    <message>
        <source>What the model will really see. Nothing is dropped or cut silently.</source>
        <translation>মডেল আসলে যা দেখবে। চুপচাপ কিছু বাদ বা কাটা হয় না।</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>পড়া</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>বাতিল</translation>
    </message>
    <message numerus="yes">
        <source>Reading … %n row(s)</source>
        <translation>
            <numerusform>পড়া হচ্ছে … %Lnটি সারি</numerusform>
            <numerusform>পড়া হচ্ছে … %Lnটি সারি</numerusform>
        </translation>
    </message>
    <message>
        <source>Bring your rows</source>
        <translation>আপনার সারি আনুন</translation>
    </message>
    <message>
        <source>Instructions, conversations or texts, as JSON, JSONL, CSV, TSV, Parquet or plain text. Drop a file here, type its path, or try the stories that come with Lorikeet.</source>
        <translation>নির্দেশ, কথোপকথন বা লেখা: JSON, JSONL, CSV, TSV, Parquet বা সাধারণ লেখা হিসেবে। এখানে ফাইল ফেলুন, পাথ লিখুন, বা Lorikeet-এর সঙ্গে আসা গল্পগুলি দেখুন।</translation>
    </message>
    <message>
        <source>Path of a data file</source>
        <translation>ডেটা ফাইলের পাথ</translation>
    </message>
    <message>
        <source>Columns, such as instruction=question,output=answer</source>
        <translation>কলাম, যেমন instruction=question,output=answer</translation>
    </message>
    <message>
        <source>Columns of the data file</source>
        <translation>ডেটা ফাইলের কলাম</translation>
    </message>
    <message>
        <source>Path of the data file</source>
        <translation>ডেটা ফাইলের পাথ</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <translation>ফাইল বাছুন…</translation>
    </message>
    <message>
        <source>Use the sample stories</source>
        <translation>নমুনা গল্প ব্যবহার করুন</translation>
    </message>
    <message>
        <source>Evaluation rows</source>
        <translation>মূল্যায়নের সারি</translation>
    </message>
    <message>
        <source>Other file…</source>
        <translation>অন্য ফাইল…</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>মূল্যায়ন</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>সারণি</translation>
    </message>
    <message>
        <source>As chat</source>
        <translation>চ্যাট হিসেবে</translation>
    </message>
    <message>
        <source>As tokens</source>
        <translation>টোকেন হিসেবে</translation>
    </message>
    <message>
        <source>Lengths</source>
        <translation>দৈর্ঘ্য</translation>
    </message>
    <message>
        <source>How the rows are shown</source>
        <translation>সারি যেভাবে দেখানো হয়</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>সারি</translation>
    </message>
    <message>
        <source>Cannot write the list</source>
        <translation>তালিকা লেখা যায় না</translation>
    </message>
    <message>
        <source>Template</source>
        <translation>টেমপ্লেট</translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation>পড়া হচ্ছে …</translation>
    </message>
    <message>
        <source>Choose a data file</source>
        <translation>ডেটা ফাইল বাছুন</translation>
    </message>
    <message>
        <source>All data sets (*.json *.jsonl *.ndjson *.csv *.tsv *.parquet *.txt *.gz *.zst);;All files (*)</source>
        <translation>সব ডেটা সেট (*.json *.jsonl *.ndjson *.csv *.tsv *.parquet *.txt *.gz *.zst);;সব ফাইল (*)</translation>
    </message>
    <message>
        <source>Counting tokens …</source>
        <translation>টোকেন গোনা হচ্ছে …</translation>
    </message>
    <message>
        <source>%1, recognised</source>
        <translation>%1, চেনা গেছে</translation>
    </message>
    <message>
        <source>%1, probably</source>
        <translation>%1, সম্ভবত</translation>
    </message>
    <message>
        <source>%1, doubtful</source>
        <translation>%1, অনিশ্চিত</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%Lnটি সারি</numerusform>
            <numerusform>%Lnটি সারি</numerusform>
        </translation>
    </message>
    <message>
        <source>Auto: the model&apos;s own</source>
        <translation>স্বয়ং: মডেলের নিজের</translation>
    </message>
    <message>
        <source>Auto: Alpaca</source>
        <translation>স্বয়ং: Alpaca</translation>
    </message>
    <message>
        <source>None, plain text</source>
        <translation>কিছু না, সাদা লেখা</translation>
    </message>
    <message numerus="yes">
        <source>Split %1, %n row(s)</source>
        <translation>
            <numerusform>ভাগ %1, %Lnটি সারি</numerusform>
            <numerusform>ভাগ %1, %Lnটি সারি</numerusform>
        </translation>
    </message>
    <message>
        <source>None</source>
        <translation>কিছু না</translation>
    </message>
    <message>
        <source>A file of its own…</source>
        <translation>আলাদা ফাইল…</translation>
    </message>
    <message>
        <source>Split %1</source>
        <translation>ভাগ %1</translation>
    </message>
    <message>
        <source>Choose a file for evaluation</source>
        <translation>মূল্যায়নের ফাইল বাছুন</translation>
    </message>
    <message>
        <source>Choose a base model first: its template and tokens are shown here.</source>
        <translation>আগে একটি বেস মডেল বাছুন: তার টেমপ্লেট ও টোকেন এখানে দেখানো হয়।</translation>
    </message>
    <message>
        <source>Reading the rows …</source>
        <translation>সারি পড়া হচ্ছে …</translation>
    </message>
    <message>
        <source>Choose data to go on.</source>
        <translation>এগোতে ডেটা বাছুন।</translation>
    </message>
    <message>
        <source>No row can be used like this.</source>
        <translation>এভাবে কোনো সারি ব্যবহার করা যায় না।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::EngineProcess</name>
    <message>
        <source>Cannot start the engine: %1 (%2)</source>
        <translation>ইঞ্জিন শুরু করা যায় না: %1 (%2)</translation>
    </message>
    <message>
        <source>The engine was killed, probably out of memory</source>
        <translation>ইঞ্জিন থামিয়ে দেওয়া হয়েছে, সম্ভবত মেমরি শেষ</translation>
    </message>
    <message>
        <source>The engine ended with code %1</source>
        <translation>ইঞ্জিন %1 কোড দিয়ে শেষ হয়েছে</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ExportPage</name>
    <message>
        <source>Export</source>
        <translation>রপ্তানি</translation>
    </message>
    <message>
        <source>Take an adapter out of the library, for use elsewhere.</source>
        <translation>লাইব্রেরি থেকে একটি অ্যাডাপ্টার বাইরে ব্যবহারের জন্য নিন।</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>অ্যাডাপ্টার</translation>
    </message>
    <message>
        <source>on</source>
        <translation>বেস</translation>
    </message>
    <message>
        <source>Adapter for PEFT</source>
        <translation>PEFT-এর জন্য অ্যাডাপ্টার</translation>
    </message>
    <message>
        <source>A small folder for Python tools and for Lorikeet</source>
        <translation>Python-এর সরঞ্জাম ও Lorikeet-এর জন্য ছোট ফোল্ডার</translation>
    </message>
    <message>
        <source>Merged model</source>
        <translation>মেলানো মডেল</translation>
    </message>
    <message>
        <source>Base and adapter as one safetensors folder</source>
        <translation>বেস ও অ্যাডাপ্টার এক safetensors ফোল্ডারে</translation>
    </message>
    <message>
        <source>Exports</source>
        <translation>রপ্তানিগুলি</translation>
    </message>
    <message>
        <source>What you export is listed here with its progress.</source>
        <translation>আপনি যা রপ্তানি করেন তা এখানে অগ্রগতিসহ দেখা যায়।</translation>
    </message>
    <message>
        <source>bf16, as most models</source>
        <translation>bf16, বেশিরভাগ মডেলের মতো</translation>
    </message>
    <message>
        <source>f16</source>
        <translation>f16</translation>
    </message>
    <message>
        <source>f32, twice the size</source>
        <translation>f32, দ্বিগুণ আকার</translation>
    </message>
    <message>
        <source>Weight type</source>
        <translation>ওয়েটের ধরন</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>ফোল্ডার</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>ফোল্ডার বাছুন</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>নাম</translation>
    </message>
    <message>
        <source>Name of the export</source>
        <translation>রপ্তানির নাম</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>আকার</translation>
    </message>
    <message>
        <source>Disk free</source>
        <translation>ডিস্কে খালি</translation>
    </message>
    <message>
        <source>Choose a folder for exports</source>
        <translation>রপ্তানির ফোল্ডার বাছুন</translation>
    </message>
    <message>
        <source>Nothing to export yet</source>
        <translation>এখনো রপ্তানির কিছু নেই</translation>
    </message>
    <message>
        <source>An adapter comes out of a training run. Once there is one, it can be taken away from here:
small for PEFT, or merged into its base.</source>
        <translation>প্রশিক্ষণের রান থেকে অ্যাডাপ্টার আসে। একটি হলে এখান থেকে নেওয়া যায়:
PEFT-এর জন্য ছোট, বা বেসের সঙ্গে মেলানো।</translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation>নমুনা ডেটা দিয়ে শেখান</translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation>আমার নিজের ডেটা বাছি…</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation>
            <numerusform>%Lnটি ফাইল</numerusform>
            <numerusform>%Lnটি ফাইল</numerusform>
        </translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>সম্ভব নয়</translation>
    </message>
    <message>
        <source>Give the export a name.</source>
        <translation>রপ্তানির একটি নাম দিন।</translation>
    </message>
    <message>
        <source>This folder is there already and not empty.</source>
        <translation>এই ফোল্ডার আগে থেকেই আছে এবং খালি নয়।</translation>
    </message>
    <message>
        <source>The disk has not enough room</source>
        <translation>ডিস্কে যথেষ্ট জায়গা নেই</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ExportRow</name>
    <message>
        <source>Starting …</source>
        <translation>শুরু হচ্ছে …</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>বাতিল</translation>
    </message>
    <message>
        <source>Tensor %1 of %2</source>
        <translation>টেনসর %2-এর %1</translation>
    </message>
    <message>
        <source>Written</source>
        <translation>লেখা হয়েছে</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation>ফোল্ডার দেখান</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>বাতিল</translation>
    </message>
    <message>
        <source>Nothing was left behind.</source>
        <translation>কিছুই ফেলে রাখা হয়নি।</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>ব্যর্থ</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::HelpPage</name>
    <message>
        <source>Train</source>
        <translation>প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>Open Train and choose a base model: a folder with safetensors, a GGUF file, one from the Hugging Face cache, or the sample that comes with Lorikeet. Then choose your rows as Alpaca JSON or JSONL. Every page says what is missing.</source>
        <translation>প্রশিক্ষণ খুলে একটি বেস মডেল বাছুন: safetensors-সহ ফোল্ডার, GGUF ফাইল, Hugging Face ক্যাশের মডেল, বা Lorikeet-এর সঙ্গে আসা নমুনা। তারপর আপনার সারি বাছুন, Alpaca JSON বা JSONL হিসেবে। কী বাকি আছে প্রতিটি পাতা তা বলে।</translation>
    </message>
    <message>
        <source>Look before you train</source>
        <translation>শেখানোর আগে দেখুন</translation>
    </message>
    <message>
        <source>The Data page shows rows as a table, as a conversation and as tokens. Marked tokens are trained; the others are context. The end token must be trained, or answers do not stop.</source>
        <translation>ডেটা পাতা সারিগুলি সারণি, কথোপকথন ও টোকেন হিসেবে দেখায়। চিহ্নিত টোকেন শেখানো হয়; বাকিগুলি প্রসঙ্গ। শেষ টোকেন শেখানো চাই, নইলে উত্তর থামে না।</translation>
    </message>
    <message>
        <source>Watch</source>
        <translation>নজর রাখুন</translation>
    </message>
    <message>
        <source>The live run shows loss, evaluation and speed. Pause, go on, write a checkpoint or stop and keep what was learnt. Close the window and the run goes on; open it and it is found again.</source>
        <translation>চলমান রান লস, মূল্যায়ন ও গতি দেখায়। বিরতি নিন, এগোন, চেকপয়েন্ট লিখুন, বা থামিয়ে যা শেখা হয়েছে রাখুন। জানালা বন্ধ করলেও রান চলে; আবার খুললে পাওয়া যায়।</translation>
    </message>
    <message>
        <source>Compare and take away</source>
        <translation>তুলনা করুন ও নিয়ে যান</translation>
    </message>
    <message>
        <source>Chat asks base and adapter the same. Export writes the adapter for PEFT, or merged into its base.</source>
        <translation>চ্যাট বেস ও অ্যাডাপ্টারকে একই প্রশ্ন করে। রপ্তানি অ্যাডাপ্টারটি PEFT-এর জন্য লেখে, বা বেসের সঙ্গে মেলায়।</translation>
    </message>
    <message>
        <source>Home, Train, Runs, Library, Chat, Export</source>
        <translation>হোম, প্রশিক্ষণ, রান, লাইব্রেরি, চ্যাট, রপ্তানি</translation>
    </message>
    <message>
        <source>Settings, Help</source>
        <translation>সেটিংস, সহায়তা</translation>
    </message>
    <message>
        <source>New training run</source>
        <translation>নতুন প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>One step back or on in the wizard</source>
        <translation>উইজার্ডে এক ধাপ পিছনে বা সামনে</translation>
    </message>
    <message>
        <source>The filled button of the page</source>
        <translation>পাতার ভরাট বোতাম</translation>
    </message>
    <message>
        <source>Next or previous area of the window</source>
        <translation>জানালার পরের বা আগের এলাকা</translation>
    </message>
    <message>
        <source>Search of the page</source>
        <translation>পাতার অনুসন্ধান</translation>
    </message>
    <message>
        <source>Pause the run, or go on</source>
        <translation>রানে বিরতি, বা এগোন</translation>
    </message>
    <message>
        <source>Write a checkpoint now</source>
        <translation>এখনই চেকপয়েন্ট লিখুন</translation>
    </message>
    <message>
        <source>In a chart: move the cursor, show all</source>
        <translation>চার্টে: কার্সর সরান, সব দেখান</translation>
    </message>
    <message>
        <source>In the library: rename, move to trash</source>
        <translation>লাইব্রেরিতে: নাম বদলান, ট্র্যাশে সরান</translation>
    </message>
    <message>
        <source>Close, cancel, or back to the list</source>
        <translation>বন্ধ, বাতিল, বা তালিকায় ফেরা</translation>
    </message>
    <message>
        <source>The engine was killed</source>
        <translation>ইঞ্জিন থামিয়ে দেওয়া হয়েছে</translation>
    </message>
    <message>
        <source>Most often the memory ran out. Open the run: its last checkpoint is kept. Choose fewer rows at once, shorter rows or a smaller base, then go on from the checkpoint.</source>
        <translation>বেশিরভাগ সময় মেমরি শেষ হয়। রানটি খুলুন: শেষ চেকপয়েন্ট রাখা আছে। একবারে কম সারি, ছোট সারি বা ছোট বেস নিন, তারপর চেকপয়েন্ট থেকে এগোন।</translation>
    </message>
    <message>
        <source>The disk is full</source>
        <translation>ডিস্ক পূর্ণ</translation>
    </message>
    <message>
        <source>The run waits in memory and nothing is lost. Free the space that is named, then try again.</source>
        <translation>রান মেমরিতে অপেক্ষা করে, কিছু হারায় না। যত জায়গা বলা আছে খালি করুন, তারপর আবার চেষ্টা করুন।</translation>
    </message>
    <message>
        <source>A folder is not a model</source>
        <translation>ফোল্ডারটি মডেল নয়</translation>
    </message>
    <message>
        <source>A base model is a folder with config.json, safetensors weights and a tokenizer, or one GGUF file. Pickle files (.bin, .pt) can run code and are refused; convert them to safetensors.</source>
        <translation>বেস মডেল মানে config.json, safetensors ওয়েট ও টোকেনাইজারসহ ফোল্ডার, বা একটি GGUF ফাইল। Pickle ফাইল (.bin, .pt) কোড চালাতে পারে, তাই নেওয়া হয় না; safetensors-এ বদলে নিন।</translation>
    </message>
    <message>
        <source>Answers do not stop</source>
        <translation>উত্তর থামে না</translation>
    </message>
    <message>
        <source>The end token was not trained: look at As tokens on the Data page, and raise max length if answers are cut.</source>
        <translation>শেষ টোকেন শেখানো হয়নি: ডেটা পাতায় টোকেন হিসেবে দেখুন, আর উত্তর কাটা গেলে সর্বোচ্চ দৈর্ঘ্য বাড়ান।</translation>
    </message>
    <message>
        <source>The log</source>
        <translation>লগ</translation>
    </message>
    <message>
        <source>Every run keeps what its engine wrote in engine.log. Show log opens it.</source>
        <translation>ইঞ্জিন যা লেখে প্রতিটি রান তা engine.log-এ রাখে। লগ দেখান সেটি খোলে।</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>সহায়তা</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>বিষয়</translation>
    </message>
    <message>
        <source>First steps</source>
        <translation>প্রথম ধাপ</translation>
    </message>
    <message>
        <source>Keyboard</source>
        <translation>কিবোর্ড</translation>
    </message>
    <message>
        <source>Settings of a run</source>
        <translation>রানের সেটিংস</translation>
    </message>
    <message>
        <source>If something fails</source>
        <translation>কিছু ব্যর্থ হলে</translation>
    </message>
    <message>
        <source>Help text</source>
        <translation>সহায়তার লেখা</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Histogram</name>
    <message>
        <source>Max length %1</source>
        <translation>সর্বোচ্চ দৈর্ঘ্য %1</translation>
    </message>
    <message>
        <source>Lengths of %1 rows, the longest has %2 tokens</source>
        <translation>%1 সারির দৈর্ঘ্য, সবচেয়ে লম্বায় %2 টোকেন</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::HomePage</name>
    <message>
        <source>Home</source>
        <translation>হোম</translation>
    </message>
    <message>
        <source>Teach a small model your task, on this machine</source>
        <translation>এই মেশিনেই একটি ছোট মডেলকে আপনার কাজ শেখান</translation>
    </message>
    <message>
        <source>New training run</source>
        <translation>নতুন প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>Welcome to Lorikeet</source>
        <translation>Lorikeet-এ স্বাগতম</translation>
    </message>
    <message>
        <source>Teach a small language model your task. Nothing leaves this machine; no account is needed.</source>
        <translation>একটি ছোট ভাষা-মডেলকে আপনার কাজ শেখান। এই মেশিনের বাইরে কিছু যায় না; কোনো অ্যাকাউন্ট লাগে না।</translation>
    </message>
    <message>
        <source>Choose a base model</source>
        <translation>একটি বেস মডেল বাছুন</translation>
    </message>
    <message>
        <source>From a folder, a GGUF file or the Hugging Face cache. You see at once whether it fits.</source>
        <translation>ফোল্ডার, GGUF ফাইল বা Hugging Face ক্যাশ থেকে। ধরে কি না তখনই দেখা যায়।</translation>
    </message>
    <message>
        <source>Bring your rows</source>
        <translation>আপনার সারি আনুন</translation>
    </message>
    <message>
        <source>Question and answer pairs as Alpaca JSON or JSONL. 200 good rows are a start.</source>
        <translation>Alpaca JSON বা JSONL হিসেবে প্রশ্ন-উত্তরের জোড়া। ২০০ ভালো সারি দিয়ে শুরু করা যায়।</translation>
    </message>
    <message>
        <source>Compare and keep</source>
        <translation>তুলনা করে রাখুন</translation>
    </message>
    <message>
        <source>Ask the base and your adapter the same question, side by side.</source>
        <translation>বেস ও আপনার অ্যাডাপ্টারকে একই প্রশ্ন করুন, পাশাপাশি।</translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation>নমুনা ডেটা দিয়ে শেখান</translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation>আমার নিজের ডেটা বাছি…</translation>
    </message>
    <message>
        <source>About a minute here, no download.</source>
        <translation>এখানে প্রায় এক মিনিট, কিছু ডাউনলোড হয় না।</translation>
    </message>
    <message>
        <source>Last runs</source>
        <translation>সাম্প্রতিক রান</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>সব রান</translation>
    </message>
    <message>
        <source>No runs yet</source>
        <translation>এখনো রান নেই</translation>
    </message>
    <message>
        <source>Runs appear here with their loss, time and state.</source>
        <translation>রান এখানে লস, সময় ও অবস্থাসহ দেখা যায়।</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>শুরু</translation>
    </message>
    <message>
        <source>Go on from an adapter</source>
        <translation>অ্যাডাপ্টার থেকে এগোন</translation>
    </message>
    <message>
        <source>Train it further with new data</source>
        <translation>নতুন ডেটা দিয়ে আরও শেখান</translation>
    </message>
    <message>
        <source>Chat with a model</source>
        <translation>মডেলের সঙ্গে চ্যাট</translation>
    </message>
    <message>
        <source>Base and adapter side by side</source>
        <translation>বেস ও অ্যাডাপ্টার পাশাপাশি</translation>
    </message>
    <message>
        <source>Export an adapter</source>
        <translation>অ্যাডাপ্টার রপ্তানি</translation>
    </message>
    <message>
        <source>For PEFT, or merged into its base</source>
        <translation>PEFT-এর জন্য, বা বেসের সঙ্গে মেলানো</translation>
    </message>
    <message>
        <source>Next step</source>
        <translation>পরের ধাপ</translation>
    </message>
    <message>
        <source>%1 is finished. Ask it and its base the same questions before you export it.</source>
        <translation>%1 শেষ। রপ্তানির আগে একে ও বেস মডেলকে একই প্রশ্ন করে দেখুন।</translation>
    </message>
    <message>
        <source>Compare in chat</source>
        <translation>চ্যাটে তুলনা</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::JobRing</name>
    <message>
        <source>Run: %1, %2</source>
        <translation>রান: %1, %2</translation>
    </message>
    <message>
        <source>Open the run</source>
        <translation>রানটি খুলুন</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LibraryPage</name>
    <message>
        <source>Library</source>
        <translation>লাইব্রেরি</translation>
    </message>
    <message>
        <source>Search adapters</source>
        <translation>অ্যাডাপ্টার খুঁজুন</translation>
    </message>
    <message>
        <source>Groups of adapters</source>
        <translation>অ্যাডাপ্টারের দল</translation>
    </message>
    <message>
        <source>Adapters</source>
        <translation>অ্যাডাপ্টারগুলি</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>ট্র্যাশে সরান</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>চ্যাট</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>রপ্তানি…</translation>
    </message>
    <message>
        <source>Put back</source>
        <translation>ফিরিয়ে আনুন</translation>
    </message>
    <message>
        <source>Base</source>
        <translation>বেস</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>ডেটা</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>সংস্করণ</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>ধাপ</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>লস</translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation>মূল্যায়ন লস</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>তৈরি</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ডিস্ক</translation>
    </message>
    <message>
        <source>Go on training…</source>
        <translation>আরও শেখান…</translation>
    </message>
    <message>
        <source>No adapters yet</source>
        <translation>এখনো অ্যাডাপ্টার নেই</translation>
    </message>
    <message>
        <source>An adapter is what training writes: a few megabytes that teach a base model your task.
Each one is kept here with the data, settings and run it came from.</source>
        <translation>প্রশিক্ষণ যা লেখে তা-ই অ্যাডাপ্টার: কয়েক মেগাবাইট যা বেস মডেলকে আপনার কাজ শেখায়।
প্রতিটি এখানে তার ডেটা, সেটিংস ও রানসহ রাখা হয়।</translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation>নমুনা ডেটা দিয়ে শেখান</translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation>আমার নিজের ডেটা বাছি…</translation>
    </message>
    <message>
        <source>The sample needs about a minute on this machine and no download.</source>
        <translation>নমুনায় এই মেশিনে প্রায় এক মিনিট লাগে, কিছু ডাউনলোড হয় না।</translation>
    </message>
    <message>
        <source>All adapters</source>
        <translation>সব অ্যাডাপ্টার</translation>
    </message>
    <message>
        <source>Trash</source>
        <translation>ট্র্যাশ</translation>
    </message>
    <message numerus="yes">
        <source>%n adapter(s)</source>
        <translation>
            <numerusform>%Lnটি অ্যাডাপ্টার</numerusform>
            <numerusform>%Lnটি অ্যাডাপ্টার</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n group(s)</source>
        <translation>
            <numerusform>%Lnটি দল</numerusform>
            <numerusform>%Lnটি দল</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n adapters chosen</source>
        <translation>
            <numerusform>%Lnটি অ্যাডাপ্টার বাছা</numerusform>
            <numerusform>%Lnটি অ্যাডাপ্টার বাছা</numerusform>
        </translation>
    </message>
    <message>
        <source>The adapter&apos;s files are not there any more</source>
        <translation>অ্যাডাপ্টারের ফাইল আর সেখানে নেই</translation>
    </message>
    <message>
        <source>Move %1 to the trash?</source>
        <translation>%1 ট্র্যাশে সরাবেন?</translation>
    </message>
    <message numerus="yes">
        <source>Move %n adapters to the trash?</source>
        <translation>
            <numerusform>%Lnটি অ্যাডাপ্টার ট্র্যাশে সরাবেন?</numerusform>
            <numerusform>%Lnটি অ্যাডাপ্টার ট্র্যাশে সরাবেন?</numerusform>
        </translation>
    </message>
    <message>
        <source>It stays there for 30 days and can be put back. %1 become free after that.</source>
        <translation>সেখানে ৩০ দিন থাকে ও ফিরিয়ে আনা যায়। তারপর %1 খালি হয়।</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>নাম বদলান</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation>ফোল্ডার দেখান</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Light</name>
    <message>
        <source>Good</source>
        <translation>ভালো</translation>
    </message>
    <message>
        <source>Look</source>
        <translation>দেখুন</translation>
    </message>
    <message>
        <source>Stops</source>
        <translation>থামায়</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>রান</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LiveRun</name>
    <message>
        <source>All runs</source>
        <translation>সব রান</translation>
    </message>
    <message>
        <source>Loss, smoothed</source>
        <translation>লস, মসৃণ</translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation>মূল্যায়ন লস</translation>
    </message>
    <message>
        <source>Best</source>
        <translation>সেরা</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplexity</translation>
    </message>
    <message>
        <source>Epoch</source>
        <translation>Epoch</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>টোকেন</translation>
    </message>
    <message>
        <source>Elapsed</source>
        <translation>কেটেছে</translation>
    </message>
    <message>
        <source>Cannot write the file</source>
        <translation>ফাইল লেখা যায় না</translation>
    </message>
    <message>
        <source>Checkpoint now</source>
        <translation>এখনই চেকপয়েন্ট</translation>
    </message>
    <message>
        <source>Stop and keep</source>
        <translation>থামিয়ে রাখুন</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>বিরতি</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>শেখার হার</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>গ্রেডিয়েন্ট মান</translation>
    </message>
    <message>
        <source>Tokens a second</source>
        <translation>সেকেন্ডে টোকেন</translation>
    </message>
    <message>
        <source>Memory, GB</source>
        <translation>মেমরি, GB</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>র‍্যাঙ্ক %1</translation>
    </message>
    <message>
        <source>%1 left, about %2</source>
        <translation>%1 বাকি, প্রায় %2</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>%1 বাকি</translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation>ধাপ %1 / %2</translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation>ধাপ %1</translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation>আপনার অপেক্ষায়</translation>
    </message>
    <message>
        <source>Pauses after this step …</source>
        <translation>এই ধাপের পরে বিরতি …</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>এগোন</translation>
    </message>
    <message>
        <source>Stopping …</source>
        <translation>থামছে …</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>আবার চেষ্টা</translation>
    </message>
    <message>
        <source>Go on from step %1</source>
        <translation>ধাপ %1 থেকে এগোন</translation>
    </message>
    <message>
        <source>Start again</source>
        <translation>আবার শুরু</translation>
    </message>
    <message>
        <source>Compare in chat</source>
        <translation>চ্যাটে তুলনা</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>রপ্তানি…</translation>
    </message>
    <message>
        <source>The engine ended before it could start</source>
        <translation>শুরু করার আগেই ইঞ্জিন শেষ হয়েছে</translation>
    </message>
    <message>
        <source>The log says why</source>
        <translation>কারণ লগে আছে</translation>
    </message>
    <message>
        <source>The run waits for you</source>
        <translation>রানটি আপনার অপেক্ষায়</translation>
    </message>
    <message>
        <source>The engine was killed while it loaded, probably out of memory</source>
        <translation>লোড করার সময় ইঞ্জিন থামিয়ে দেওয়া হয়েছে, সম্ভবত মেমরি শেষ</translation>
    </message>
    <message>
        <source>The engine was killed after step %1, probably out of memory</source>
        <translation>ধাপ %1-এর পরে ইঞ্জিন থামিয়ে দেওয়া হয়েছে, সম্ভবত মেমরি শেষ</translation>
    </message>
    <message>
        <source>Nothing else was touched. No checkpoint was written yet.</source>
        <translation>আর কিছু ছোঁয়া হয়নি। এখনো কোনো চেকপয়েন্ট লেখা হয়নি।</translation>
    </message>
    <message>
        <source>Nothing else was touched. The checkpoint of step %1 is kept.</source>
        <translation>আর কিছু ছোঁয়া হয়নি। ধাপ %1-এর চেকপয়েন্ট রাখা আছে।</translation>
    </message>
    <message>
        <source>Show log</source>
        <translation>লগ দেখান</translation>
    </message>
    <message>
        <source>Log of %1</source>
        <translation>%1-এর লগ</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>সরান</translation>
    </message>
    <message>
        <source>No step is done yet, so there is no adapter to keep.</source>
        <translation>এখনো কোনো ধাপ শেষ হয়নি, তাই রাখার মতো অ্যাডাপ্টার নেই।</translation>
    </message>
    <message>
        <source>What was learnt up to step %1 is kept as an adapter; only the step that runs now is dropped.</source>
        <translation>ধাপ %1 পর্যন্ত যা শেখা হয়েছে তা অ্যাডাপ্টার হিসেবে থাকে; কেবল চলতি ধাপটি বাদ যায়।</translation>
    </message>
    <message>
        <source>Stop this run and keep what it learnt?</source>
        <translation>এই রান থামিয়ে যা শেখা হয়েছে রাখবেন?</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LossCard</name>
    <message>
        <source>Loss</source>
        <translation>লস</translation>
    </message>
    <message>
        <source>Raw</source>
        <translation>কাঁচা</translation>
    </message>
    <message>
        <source>Smoothed</source>
        <translation>মসৃণ</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>মূল্যায়ন</translation>
    </message>
    <message>
        <source>Smoothing</source>
        <translation>মসৃণতা</translation>
    </message>
    <message>
        <source>By step</source>
        <translation>ধাপে</translation>
    </message>
    <message>
        <source>By epoch</source>
        <translation>epoch-এ</translation>
    </message>
    <message>
        <source>By tokens</source>
        <translation>টোকেনে</translation>
    </message>
    <message>
        <source>By time</source>
        <translation>সময়ে</translation>
    </message>
    <message>
        <source>What the x axis counts</source>
        <translation>x অক্ষ যা গোনে</translation>
    </message>
    <message>
        <source>Show all (Home)</source>
        <translation>সব দেখান (Home)</translation>
    </message>
    <message>
        <source>More</source>
        <translation>আরও</translation>
    </message>
    <message>
        <source>Logarithmic loss axis</source>
        <translation>লগারিদমিক লস অক্ষ</translation>
    </message>
    <message>
        <source>Save as picture…</source>
        <translation>ছবি হিসেবে রাখুন…</translation>
    </message>
    <message>
        <source>Save the chart as a picture</source>
        <translation>চার্টটি ছবি হিসেবে রাখুন</translation>
    </message>
    <message>
        <source>Picture (*.png)</source>
        <translation>ছবি (*.png)</translation>
    </message>
    <message>
        <source>Save as PDF…</source>
        <translation>PDF হিসেবে রাখুন…</translation>
    </message>
    <message>
        <source>Save the chart as PDF</source>
        <translation>চার্টটি PDF হিসেবে রাখুন</translation>
    </message>
    <message>
        <source>PDF (*.pdf)</source>
        <translation>PDF (*.pdf)</translation>
    </message>
    <message>
        <source>Save values as CSV…</source>
        <translation>মানগুলি CSV হিসেবে রাখুন…</translation>
    </message>
    <message>
        <source>Save the values</source>
        <translation>মানগুলি রাখুন</translation>
    </message>
    <message>
        <source>CSV (*.csv)</source>
        <translation>CSV (*.csv)</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LossChart</name>
    <message>
        <source>Loss chart, no step yet</source>
        <translation>লসের চার্ট, এখনো ধাপ নেই</translation>
    </message>
    <message>
        <source>Loss chart: step %1 of %2, smoothed loss %3</source>
        <translation>লসের চার্ট: ধাপ %1 / %2, মসৃণ লস %3</translation>
    </message>
    <message>
        <source>, evaluation %1</source>
        <translation>, মূল্যায়ন %1</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>লস</translation>
    </message>
    <message>
        <source>Smoothed</source>
        <translation>মসৃণ</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>মূল্যায়ন</translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation>ধাপ %1</translation>
    </message>
    <message>
        <source>The curve begins with the first step.</source>
        <translation>প্রথম ধাপের সঙ্গে বক্ররেখা শুরু হয়।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MachineCard</name>
    <message>
        <source>This machine</source>
        <translation>এই মেশিন</translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation>ইঞ্জিনকে জিজ্ঞাসা করা হচ্ছে …</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>GPU মেমরি</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ডিস্ক</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>প্রসেসর</translation>
    </message>
    <message>
        <source>The engine did not answer</source>
        <translation>ইঞ্জিন উত্তর দেয়নি</translation>
    </message>
    <message>
        <source>CUDA is used</source>
        <translation>CUDA ব্যবহৃত হচ্ছে</translation>
    </message>
    <message>
        <source>driver for CUDA %1</source>
        <translation>CUDA %1-এর ড্রাইভার</translation>
    </message>
    <message>
        <source>The processor is used</source>
        <translation>প্রসেসর ব্যবহৃত হচ্ছে</translation>
    </message>
    <message>
        <source>Training works, more slowly than on a GPU.</source>
        <translation>প্রশিক্ষণ চলে, GPU-র চেয়ে ধীরে।</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2-এর মধ্যে %1</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 খালি</translation>
    </message>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation>
            <numerusform>%Lnটি থ্রেড</numerusform>
            <numerusform>%Lnটি থ্রেড</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MainWindow</name>
    <message>
        <source>&amp;File</source>
        <translation>ফাইল</translation>
    </message>
    <message>
        <source>New training run</source>
        <translation>নতুন প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation>নমুনা ডেটা দিয়ে শেখান</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>বন্ধ করুন</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>সম্পাদনা</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>কপি</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>পেস্ট</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>সব বাছুন</translation>
    </message>
    <message>
        <source>Find on this page</source>
        <translation>এই পাতায় খুঁজুন</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>দৃশ্য</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>থিম</translation>
    </message>
    <message>
        <source>System</source>
        <translation>সিস্টেম</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>হালকা</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>গাঢ়</translation>
    </message>
    <message>
        <source>Next area</source>
        <translation>পরের এলাকা</translation>
    </message>
    <message>
        <source>Previous area</source>
        <translation>আগের এলাকা</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>সহায়তা</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>সহায়তা</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>রান</translation>
    </message>
    <message>
        <source>Pause or go on</source>
        <translation>বিরতি বা এগোন</translation>
    </message>
    <message>
        <source>Checkpoint now</source>
        <translation>এখনই চেকপয়েন্ট</translation>
    </message>
    <message>
        <source>Stop and keep…</source>
        <translation>থামিয়ে রাখুন…</translation>
    </message>
    <message>
        <source>Main action of the page</source>
        <translation>পাতার প্রধান কাজ</translation>
    </message>
    <message>
        <source>Stories, the sample</source>
        <translation>গল্প, নমুনা</translation>
    </message>
    <message numerus="yes">
        <source>Processor · %n thread(s)</source>
        <translation>
            <numerusform>প্রসেসর · %Lnটি থ্রেড</numerusform>
            <numerusform>প্রসেসর · %Lnটি থ্রেড</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2-এর মধ্যে %1</translation>
    </message>
    <message>
        <source>RAM %1</source>
        <translation>RAM %1</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 খালি</translation>
    </message>
    <message>
        <source>%1 · step %2</source>
        <translation>%1 · ধাপ %2</translation>
    </message>
    <message>
        <source>Engine not found</source>
        <translation>ইঞ্জিন পাওয়া যায়নি</translation>
    </message>
    <message>
        <source>Engine ready</source>
        <translation>ইঞ্জিন প্রস্তুত</translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation>ইঞ্জিনকে জিজ্ঞাসা করা হচ্ছে …</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MarkdownView</name>
    <message>
        <source>Open this link in the browser?</source>
        <translation>এই লিঙ্ক ব্রাউজারে খুলবেন?</translation>
    </message>
    <message>
        <source>Open link</source>
        <translation>লিঙ্ক খুলুন</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MethodPage</name>
    <message>
        <source>Method</source>
        <translation>পদ্ধতি</translation>
    </message>
    <message>
        <source>How much of the model may change. A preset sets everything; you can change any part later.</source>
        <translation>মডেলের কতটা বদলাতে পারে। প্রিসেট সব ঠিক করে; পরে যেকোনো অংশ বদলানো যায়।</translation>
    </message>
    <message>
        <source>What it sets</source>
        <translation>কী ঠিক করে</translation>
    </message>
    <message>
        <source>Change in Advanced</source>
        <translation>বিস্তৃত-এ বদলান</translation>
    </message>
    <message>
        <source>Base weights</source>
        <translation>বেস ওয়েট</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>অ্যাডাপ্টার</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>স্তর</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>অপ্টিমাইজার</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>শেখা</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>প্রিসেট</translation>
    </message>
    <message>
        <source>Reset to Balanced</source>
        <translation>ভারসাম্যে ফিরুন</translation>
    </message>
    <message>
        <source>Base weights and adapter</source>
        <translation>বেস ওয়েট ও অ্যাডাপ্টার</translation>
    </message>
    <message>
        <source>How much of the model may change. Each field shows its effect on memory at once.</source>
        <translation>মডেলের কতটা বদলাতে পারে। প্রতিটি ঘর মেমরিতে তার প্রভাব তখনই দেখায়।</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%Lnটি ধাপ</numerusform>
            <numerusform>%Lnটি ধাপ</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s)</source>
        <translation>
            <numerusform>%Ln epoch</numerusform>
            <numerusform>%Ln epoch</numerusform>
        </translation>
    </message>
    <message>
        <source>What is set</source>
        <translation>যা ঠিক করা আছে</translation>
    </message>
    <message>
        <source>What %1 sets</source>
        <translation>%1 যা ঠিক করে</translation>
    </message>
    <message>
        <source>As stored, in 16 bits.</source>
        <translation>যেমন রাখা আছে, ১৬ বিটে।</translation>
    </message>
    <message>
        <source>%1 bits a weight. Same numbers as bitsandbytes, so the adapter works elsewhere.</source>
        <translation>প্রতি ওয়েটে %1 বিট। bitsandbytes-এর একই সংখ্যা, তাই অ্যাডাপ্টার অন্যত্রও চলে।</translation>
    </message>
    <message>
        <source>Rank %1, alpha %2</source>
        <translation>র‍্যাঙ্ক %1, আলফা %2</translation>
    </message>
    <message>
        <source>%1 of %2 weights are trained, %3.</source>
        <translation>%2 ওয়েটের %1 শেখানো হয়, %3।</translation>
    </message>
    <message>
        <source>All linear layers</source>
        <translation>সব রৈখিক স্তর</translation>
    </message>
    <message numerus="yes">
        <source>In all %n block(s).</source>
        <translation>
            <numerusform>%Lnটি ব্লকের সবগুলিতে।</numerusform>
            <numerusform>%Lnটি ব্লকের সবগুলিতে।</numerusform>
        </translation>
    </message>
    <message>
        <source>A quarter of the memory of 32-bit state.</source>
        <translation>৩২-বিট অবস্থার চার ভাগের এক ভাগ মেমরি।</translation>
    </message>
    <message>
        <source>Full state in 32 bits.</source>
        <translation>৩২ বিটে পুরো অবস্থা।</translation>
    </message>
    <message>
        <source>%1, rate %2</source>
        <translation>%1, হার %2</translation>
    </message>
    <message numerus="yes">
        <source>%1 schedule, warms up over %n step(s).</source>
        <translation>
            <numerusform>%1 সময়সূচি, %Ln ধাপ ধরে ওয়ার্ম-আপ।</numerusform>
            <numerusform>%1 সময়সূচি, %Ln ধাপ ধরে ওয়ার্ম-আপ।</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 schedule, warms up over the first %2.</source>
        <translation>%1 সময়সূচি, প্রথম %2 ধরে ওয়ার্ম-আপ।</translation>
    </message>
    <message>
        <source>A value is outside its range.</source>
        <translation>একটি মান সীমার বাইরে।</translation>
    </message>
    <message>
        <source>The model does not have the layers that are named.</source>
        <translation>যে স্তরের নাম আছে তা মডেলে নেই।</translation>
    </message>
    <message>
        <source>%1 bits a weight, one scale for each row.</source>
        <translation>প্রতি ওয়েটে %1 বিট, প্রতি সারিতে একটি স্কেল।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ModelsModel</name>
    <message>
        <source>Folder</source>
        <translation>ফোল্ডার</translation>
    </message>
    <message>
        <source>GGUF file</source>
        <translation>GGUF ফাইল</translation>
    </message>
    <message>
        <source>nest, the sample</source>
        <translation>nest, নমুনা</translation>
    </message>
    <message>
        <source>Comes with Lorikeet</source>
        <translation>Lorikeet-এর সঙ্গে আসে</translation>
    </message>
    <message>
        <source>Hugging Face cache</source>
        <translation>Hugging Face ক্যাশ</translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation>ইঞ্জিনকে জিজ্ঞাসা করা হচ্ছে …</translation>
    </message>
    <message>
        <source>Too large: %1 short</source>
        <translation>খুব বড়: %1 কম</translation>
    </message>
    <message>
        <source>Tight: %1 to spare</source>
        <translation>টানটান: %1 বাকি</translation>
    </message>
    <message>
        <source>Fits, %1 to spare</source>
        <translation>ধরে, %1 বাকি</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>মডেল</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>আকার</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>প্রসঙ্গ</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>পরিবার</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>কোথায়</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>এই মেশিনে</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Navigation</name>
    <message>
        <source>Home</source>
        <translation>হোম</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>রান</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>লাইব্রেরি</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>চ্যাট</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>রপ্তানি</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>সেটিংস</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>সহায়তা</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RefusedModel</name>
    <message>
        <source>Row</source>
        <translation>সারি</translation>
    </message>
    <message>
        <source>Refused because</source>
        <translation>না নেওয়ার কারণ</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ReportCard</name>
    <message>
        <source>Report</source>
        <translation>প্রতিবেদন</translation>
    </message>
    <message>
        <source>Rows read</source>
        <translation>পড়া সারি</translation>
    </message>
    <message>
        <source>Used</source>
        <translation>ব্যবহৃত</translation>
    </message>
    <message>
        <source>Duplicates, kept</source>
        <translation>একই সারি, রাখা</translation>
    </message>
    <message>
        <source>Empty answer</source>
        <translation>খালি উত্তর</translation>
    </message>
    <message>
        <source>Refused</source>
        <translation>নেওয়া হয়নি</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>কাটুন</translation>
    </message>
    <message>
        <source>Drop</source>
        <translation>বাদ দিন</translation>
    </message>
    <message>
        <source>Split</source>
        <translation>ভাগ করুন</translation>
    </message>
    <message>
        <source>What happens to longer rows</source>
        <translation>লম্বা সারির কী হয়</translation>
    </message>
    <message>
        <source>Length in tokens</source>
        <translation>টোকেনে দৈর্ঘ্য</translation>
    </message>
    <message>
        <source>Save list…</source>
        <translation>তালিকা রাখুন…</translation>
    </message>
    <message>
        <source>Refused rows</source>
        <translation>না-নেওয়া সারি</translation>
    </message>
    <message>
        <source>Longer than %1</source>
        <translation>%1-এর চেয়ে লম্বা</translation>
    </message>
    <message>
        <source>Too long</source>
        <translation>খুব লম্বা</translation>
    </message>
    <message>
        <source>Refused rows, %1</source>
        <translation>না-নেওয়া সারি, %1</translation>
    </message>
    <message>
        <source>No row was refused</source>
        <translation>সব সারি নেওয়া হয়েছে</translation>
    </message>
    <message>
        <source>Choose a base model to count tokens</source>
        <translation>টোকেন গুনতে একটি বেস মডেল বাছুন</translation>
    </message>
    <message>
        <source>Median %1, longest %2</source>
        <translation>মধ্যক %1, সবচেয়ে লম্বা %2</translation>
    </message>
    <message>
        <source>Save the list of refused rows</source>
        <translation>না-নেওয়া সারির তালিকা রাখুন</translation>
    </message>
    <message>
        <source>Text (*.tsv)</source>
        <translation>লেখা (*.tsv)</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RowPicker</name>
    <message>
        <source>Row before</source>
        <translation>আগের সারি</translation>
    </message>
    <message>
        <source>Next row</source>
        <translation>পরের সারি</translation>
    </message>
    <message>
        <source>Row</source>
        <translation>সারি</translation>
    </message>
    <message>
        <source>Random row</source>
        <translation>যেকোনো সারি</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>/ %1</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RowsModel</name>
    <message>
        <source>Row</source>
        <translation>সারি</translation>
    </message>
    <message>
        <source>Instruction</source>
        <translation>নির্দেশ</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>ইনপুট</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>উত্তর</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunCard</name>
    <message>
        <source>Run card</source>
        <translation>রান কার্ড</translation>
    </message>
    <message>
        <source>Base model</source>
        <translation>বেস মডেল</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>ডেটা</translation>
    </message>
    <message>
        <source>Method</source>
        <translation>পদ্ধতি</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>মেমরি</translation>
    </message>
    <message>
        <source>Base weights</source>
        <translation>বেস ওয়েট</translation>
    </message>
    <message>
        <source>Adapter and gradients</source>
        <translation>অ্যাডাপ্টার ও গ্রেডিয়েন্ট</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>অপ্টিমাইজার</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>অ্যাক্টিভেশন</translation>
    </message>
    <message>
        <source>Work space</source>
        <translation>কাজের জায়গা</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>ধাপ</translation>
    </message>
    <message>
        <source>Tokens a step</source>
        <translation>ধাপে টোকেন</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>সময়</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ডিস্ক</translation>
    </message>
    <message>
        <source>Not chosen yet</source>
        <translation>এখনো বাছা হয়নি</translation>
    </message>
    <message>
        <source>%1 resident</source>
        <translation>%1 মেমরিতে</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) used</source>
        <translation>
            <numerusform>%Lnটি সারি ব্যবহৃত</numerusform>
            <numerusform>%Lnটি সারি ব্যবহৃত</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 টোকেন</translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%Lnটি সারি</numerusform>
            <numerusform>%Lnটি সারি</numerusform>
        </translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>র‍্যাঙ্ক %1</translation>
    </message>
    <message>
        <source>all linear</source>
        <translation>সব রৈখিক</translation>
    </message>
    <message>
        <source>some layers</source>
        <translation>কিছু স্তর</translation>
    </message>
    <message>
        <source>%1 trained</source>
        <translation>%1 শেখে</translation>
    </message>
    <message>
        <source>Goes on from %1</source>
        <translation>%1 থেকে এগোয়</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>প্রায় %1</translation>
    </message>
    <message>
        <source>Estimated from the speed of an earlier run of this base</source>
        <translation>এই বেসের আগের রানের গতি থেকে অনুমান</translation>
    </message>
    <message>
        <source>Known after the first steps of a run on this base</source>
        <translation>এই বেসের রানের প্রথম ধাপগুলির পরে জানা যায়</translation>
    </message>
    <message>
        <source>%1 of %2 free</source>
        <translation>%2 খালির %1</translation>
    </message>
    <message>
        <source>Memory: %1</source>
        <translation>মেমরি: %1</translation>
    </message>
    <message>
        <source>Choose a base model</source>
        <translation>একটি বেস মডেল বাছুন</translation>
    </message>
    <message>
        <source>The engine did not answer</source>
        <translation>ইঞ্জিন উত্তর দেয়নি</translation>
    </message>
    <message>
        <source>Asking the engine …</source>
        <translation>ইঞ্জিনকে জিজ্ঞাসা করা হচ্ছে …</translation>
    </message>
    <message>
        <source>A setting does not suit the model</source>
        <translation>একটি সেটিং মডেলের সঙ্গে মেলে না</translation>
    </message>
    <message>
        <source>Does not fit: %1 short</source>
        <translation>ধরে না: %1 কম</translation>
    </message>
    <message>
        <source>Choose data to see steps</source>
        <translation>ধাপ দেখতে ডেটা বাছুন</translation>
    </message>
    <message>
        <source>Counting tokens …</source>
        <translation>টোকেন গোনা হচ্ছে …</translation>
    </message>
    <message>
        <source>No row can be used</source>
        <translation>কোনো সারি ব্যবহার করা যায় না</translation>
    </message>
    <message>
        <source>Tight, %1 to spare</source>
        <translation>টানটান, %1 বাকি</translation>
    </message>
    <message>
        <source>Fits, %1 to spare</source>
        <translation>ধরে, %1 বাকি</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunningCard</name>
    <message>
        <source>Running now</source>
        <translation>এখন চলছে</translation>
    </message>
    <message>
        <source>Open live run</source>
        <translation>চলমান রান খুলুন</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>বিরতি</translation>
    </message>
    <message>
        <source>Checkpoint now</source>
        <translation>এখনই চেকপয়েন্ট</translation>
    </message>
    <message>
        <source>About %1 left</source>
        <translation>প্রায় %1 বাকি</translation>
    </message>
    <message>
        <source>Progress %1</source>
        <translation>অগ্রগতি %1</translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation>ধাপ %1 / %2</translation>
    </message>
    <message>
        <source>Loss %1</source>
        <translation>লস %1</translation>
    </message>
    <message>
        <source>evaluation %1</source>
        <translation>মূল্যায়ন %1</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 টোকেন/সে</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>এগোন</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunsModel</name>
    <message>
        <source>now</source>
        <translation>এখন</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>নাম</translation>
    </message>
    <message>
        <source>Base model</source>
        <translation>বেস মডেল</translation>
    </message>
    <message>
        <source>State</source>
        <translation>অবস্থা</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>লস</translation>
    </message>
    <message>
        <source>Evaluation loss</source>
        <translation>মূল্যায়ন লস</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>সময়</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>সমাপ্তি</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>রান</translation>
    </message>
    <message>
        <source>Search name, model or state</source>
        <translation>নাম, মডেল বা অবস্থা খুঁজুন</translation>
    </message>
    <message>
        <source>Search runs</source>
        <translation>রান খুঁজুন</translation>
    </message>
    <message>
        <source>New training run</source>
        <translation>নতুন প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>No runs yet</source>
        <translation>এখনো রান নেই</translation>
    </message>
    <message>
        <source>Every training run is kept here with its loss, time and state, and can be
gone on with or repeated.</source>
        <translation>প্রতিটি রান এখানে লস, সময় ও অবস্থাসহ থাকে, আর সেখান থেকে
এগোনো বা আবার করা যায়।</translation>
    </message>
    <message>
        <source>Train with the sample data</source>
        <translation>নমুনা ডেটা দিয়ে শেখান</translation>
    </message>
    <message>
        <source>Choose my own data…</source>
        <translation>আমার নিজের ডেটা বাছি…</translation>
    </message>
    <message>
        <source>The sample needs about a minute on this machine and no download.</source>
        <translation>নমুনায় এই মেশিনে প্রায় এক মিনিট লাগে, কিছু ডাউনলোড হয় না।</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) in %1</source>
        <translation>
            <numerusform>%1-এ %Lnটি রান</numerusform>
            <numerusform>%1-এ %Lnটি রান</numerusform>
        </translation>
    </message>
    <message>
        <source>Open</source>
        <translation>খুলুন</translation>
    </message>
    <message>
        <source>Compare in chat</source>
        <translation>চ্যাটে তুলনা</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>রপ্তানি…</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation>ফোল্ডার দেখান</translation>
    </message>
    <message>
        <source>Show log</source>
        <translation>লগ দেখান</translation>
    </message>
    <message>
        <source>Log of %1</source>
        <translation>%1-এর লগ</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SampleStrip</name>
    <message>
        <source>Sample answers</source>
        <translation>নমুনা উত্তর</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>প্রম্পট</translation>
    </message>
    <message>
        <source>Changes against the answer before are marked</source>
        <translation>আগের উত্তরের তুলনায় বদল চিহ্নিত</translation>
    </message>
    <message>
        <source>Earlier answers</source>
        <translation>আগের উত্তর</translation>
    </message>
    <message>
        <source>Later answers</source>
        <translation>পরের উত্তর</translation>
    </message>
    <message>
        <source>Base, step 0</source>
        <translation>বেস, ধাপ ০</translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation>ধাপ %1</translation>
    </message>
    <message>
        <source>Under the cursor</source>
        <translation>কার্সরের নিচে</translation>
    </message>
    <message>
        <source>Before training</source>
        <translation>প্রশিক্ষণের আগে</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>নতুনতম</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SamplingPanel</name>
    <message>
        <source>Precise</source>
        <translation>নির্ভুল</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>ভারসাম্য</translation>
    </message>
    <message>
        <source>Creative</source>
        <translation>সৃজনশীল</translation>
    </message>
    <message>
        <source>Own</source>
        <translation>নিজস্ব</translation>
    </message>
    <message>
        <source>Sampling preset</source>
        <translation>স্যাম্পলিং প্রিসেট</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>স্যাম্পলিং</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperature</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation>পুনরাবৃত্তি রোধ</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>দীর্ঘতম উত্তর</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>সিড</translation>
    </message>
    <message>
        <source>System text</source>
        <translation>সিস্টেম লেখা</translation>
    </message>
    <message>
        <source>None; an adapter brings its own</source>
        <translation>কিছু না; অ্যাডাপ্টার নিজেরটা আনে</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SettingsForm</name>
    <message>
        <source>On</source>
        <translation>চালু</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>স্বয়ংক্রিয়</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::SettingsPage</name>
    <message>
        <source>Settings</source>
        <translation>সেটিংস</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>চেহারা</translation>
    </message>
    <message>
        <source>System</source>
        <translation>সিস্টেম</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>হালকা</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>গাঢ়</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>থিম</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>ভাষা</translation>
    </message>
    <message>
        <source>System follows the desktop&apos;s light or dark setting.</source>
        <translation>সিস্টেম ডেস্কটপের হালকা বা গাঢ় সেটিং মানে।</translation>
    </message>
    <message>
        <source>Names of models, paths and commands stay as they are.</source>
        <translation>মডেলের নাম, পাথ ও কমান্ড যেমন আছে তেমনই থাকে।</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>ফোল্ডার</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation>ফোল্ডার দেখান</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>হোম</translation>
    </message>
    <message>
        <source>Runs, library and exports lie here. LORIKEET_HOME chooses another folder.</source>
        <translation>রান, লাইব্রেরি ও রপ্তানি এখানে থাকে। LORIKEET_HOME অন্য ফোল্ডার ঠিক করে।</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>ইঞ্জিন</translation>
    </message>
    <message>
        <source>Trains, chats and exports in a process of its own.</source>
        <translation>নিজের আলাদা প্রসেসে শেখায়, চ্যাট করে ও রপ্তানি করে।</translation>
    </message>
    <message>
        <source>About</source>
        <translation>পরিচিতি</translation>
    </message>
    <message>
        <source>The studio is free software under the GNU General Public License, version 3 or later; the engine is under the Apache License 2.0. Nothing is sent anywhere.</source>
        <translation>স্টুডিওটি GNU General Public License, সংস্করণ ৩ বা পরের অধীনে মুক্ত সফটওয়্যার; ইঞ্জিন Apache License 2.0-এর অধীনে। কোথাও কিছু পাঠানো হয় না।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::StartPage</name>
    <message>
        <source>Start</source>
        <translation>শুরু</translation>
    </message>
    <message>
        <source>Everything below is stored with the run, so it can be repeated.</source>
        <translation>নিচের সব রানের সঙ্গে রাখা হয়, তাই আবার করা যায়।</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>নাম</translation>
    </message>
    <message>
        <source>Run name</source>
        <translation>রানের নাম</translation>
    </message>
    <message>
        <source>What will be saved</source>
        <translation>যা রাখা হবে</translation>
    </message>
    <message>
        <source>What</source>
        <translation>কী</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>কোথায়</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>আকার</translation>
    </message>
    <message>
        <source>Adapter, PEFT</source>
        <translation>অ্যাডাপ্টার, PEFT</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>চেকপয়েন্ট</translation>
    </message>
    <message>
        <source>Log, curves, sample answers</source>
        <translation>লগ, বক্ররেখা, নমুনা উত্তর</translation>
    </message>
    <message>
        <source>Job file, repeats the run exactly</source>
        <translation>কাজের ফাইল, হুবহু আবার করে</translation>
    </message>
    <message>
        <source>The same as a command</source>
        <translation>কমান্ড হিসেবে একই</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>কপি</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>কপি হয়েছে</translation>
    </message>
    <message>
        <source>up to %1</source>
        <translation>%1 পর্যন্ত</translation>
    </message>
    <message>
        <source>Give the run a name.</source>
        <translation>রানের একটি নাম দিন।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::Stepper</name>
    <message>
        <source>current step</source>
        <translation>চলতি ধাপ</translation>
    </message>
    <message>
        <source>done</source>
        <translation>শেষ</translation>
    </message>
    <message>
        <source>look again</source>
        <translation>আবার দেখুন</translation>
    </message>
    <message>
        <source>open</source>
        <translation>খোলা</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TokenRowView</name>
    <message>
        <source>Trained</source>
        <translation>শেখানো</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>প্রসঙ্গ</translation>
    </message>
    <message>
        <source>Special</source>
        <translation>বিশেষ</translation>
    </message>
    <message>
        <source>Cut away</source>
        <translation>কাটা অংশ</translation>
    </message>
    <message>
        <source>Show ids</source>
        <translation>id দেখান</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%Lnটি টোকেন</numerusform>
            <numerusform>%Lnটি টোকেন</numerusform>
        </translation>
    </message>
    <message>
        <source>Begin token</source>
        <translation>শুরুর টোকেন</translation>
    </message>
    <message>
        <source>No begin token</source>
        <translation>শুরুর টোকেন নেই</translation>
    </message>
    <message>
        <source>End token trained</source>
        <translation>শেষ টোকেন শেখানো</translation>
    </message>
    <message>
        <source>No end token trained</source>
        <translation>শেষ টোকেন শেখানো নয়</translation>
    </message>
    <message>
        <source>Trained, %1</source>
        <translation>শেখানো, %1</translation>
    </message>
    <message>
        <source>Context, %1</source>
        <translation>প্রসঙ্গ, %1</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TokenView</name>
    <message>
        <source>Tokens of the row</source>
        <translation>সারির টোকেন</translation>
    </message>
    <message>
        <source>cut away</source>
        <translation>কাটা</translation>
    </message>
    <message>
        <source>trained</source>
        <translation>শেখানো</translation>
    </message>
    <message>
        <source>context</source>
        <translation>প্রসঙ্গ</translation>
    </message>
    <message>
        <source>Token %1: %2 · id %3 · bytes %4 · %5</source>
        <translation>টোকেন %1: %2 · id %3 · bytes %4 · %5</translation>
    </message>
    <message>
        <source> · special</source>
        <translation> · বিশেষ</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TrainingPage</name>
    <message>
        <source>Training</source>
        <translation>প্রশিক্ষণ</translation>
    </message>
    <message>
        <source>How long it learns and how you watch it. Advanced shows schedule, packing and seed.</source>
        <translation>কতক্ষণ শেখে আর কীভাবে দেখা হয়। বিস্তৃত-এ সময়সূচি, প্যাকিং ও সিড আছে।</translation>
    </message>
    <message>
        <source>Learning</source>
        <translation>শেখা</translation>
    </message>
    <message>
        <source>Watching and keeping</source>
        <translation>নজর ও সংরক্ষণ</translation>
    </message>
    <message>
        <source>Schedule, rows and machine</source>
        <translation>সময়সূচি, সারি ও মেশিন</translation>
    </message>
    <message>
        <source>Sample prompts, answered at each evaluation</source>
        <translation>নমুনা প্রম্পট, প্রতি মূল্যায়নে উত্তর দেওয়া হয়</translation>
    </message>
    <message>
        <source>Add a prompt</source>
        <translation>একটি প্রম্পট যোগ করুন</translation>
    </message>
    <message>
        <source>New sample prompt</source>
        <translation>নতুন নমুনা প্রম্পট</translation>
    </message>
    <message>
        <source>Add the prompt</source>
        <translation>প্রম্পটটি যোগ করুন</translation>
    </message>
    <message>
        <source>Remove the prompt</source>
        <translation>প্রম্পটটি সরান</translation>
    </message>
    <message>
        <source>A value is outside its range.</source>
        <translation>একটি মান সীমার বাইরে।</translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::WizardPage</name>
    <message>
        <source>Simple</source>
        <translation>সহজ</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>বিস্তৃত</translation>
    </message>
    <message>
        <source>How much is shown</source>
        <translation>কতটা দেখানো হয়</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>পিছনে</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>পরবর্তী</translation>
    </message>
    <message>
        <source>Start training</source>
        <translation>প্রশিক্ষণ শুরু</translation>
    </message>
</context>
</TS>
