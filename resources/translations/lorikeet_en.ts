<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_GB">
<context>
    <name>CheckText</name>
    <message numerus="yes">
        <source>Estimated peak. %n layer(s) are computed again on the way back to save memory.</source>
        <translation>
            <numerusform>Estimated peak. %n layer is computed again on the way back to save memory.</numerusform>
            <numerusform>Estimated peak. %n layers are computed again on the way back to save memory.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::AnswerCard</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::DataPage</name>
    <message numerus="yes">
        <source>Reading … %n row(s)</source>
        <translation>
            <numerusform>Reading … %n row</numerusform>
            <numerusform>Reading … %n rows</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%n row</numerusform>
            <numerusform>%n rows</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Split %1, %n row(s)</source>
        <translation>
            <numerusform>Split %1, %n row</numerusform>
            <numerusform>Split %1, %n rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ExportPage</name>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation>
            <numerusform>%n file</numerusform>
            <numerusform>%n files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LibraryPage</name>
    <message numerus="yes">
        <source>%n adapter(s)</source>
        <translation>
            <numerusform>%n adapter</numerusform>
            <numerusform>%n adapters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n group(s)</source>
        <translation>
            <numerusform>%n group</numerusform>
            <numerusform>%n groups</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n adapters chosen</source>
        <translation>
            <numerusform>%n adapter chosen</numerusform>
            <numerusform>%n adapters chosen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n adapters to the trash?</source>
        <translation>
            <numerusform>Move %n adapter to the trash?</numerusform>
            <numerusform>Move %n adapters to the trash?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MachineCard</name>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation>
            <numerusform>%n thread</numerusform>
            <numerusform>%n threads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MainWindow</name>
    <message numerus="yes">
        <source>Processor · %n thread(s)</source>
        <translation>
            <numerusform>Processor · %n thread</numerusform>
            <numerusform>Processor · %n threads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MethodPage</name>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s)</source>
        <translation>
            <numerusform>%n epoch</numerusform>
            <numerusform>%n epochs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>In all %n block(s).</source>
        <translation>
            <numerusform>In all %n block.</numerusform>
            <numerusform>In all %n blocks.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 schedule, warms up over %n step(s).</source>
        <translation>
            <numerusform>%1 schedule, warms up over %n step.</numerusform>
            <numerusform>%1 schedule, warms up over %n steps.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunCard</name>
    <message numerus="yes">
        <source>%n row(s) used</source>
        <translation>
            <numerusform>%n row used</numerusform>
            <numerusform>%n rows used</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%n row</numerusform>
            <numerusform>%n rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunsPage</name>
    <message numerus="yes">
        <source>%n run(s) in %1</source>
        <translation>
            <numerusform>%n run in %1</numerusform>
            <numerusform>%n runs in %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TokenRowView</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
</context>
</TS>
