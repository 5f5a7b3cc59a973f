<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_GB">
<context>
    <name>CheckText</name>
    <message numerus="yes">
        <source>Estimated peak. %n layer(s) are computed again on the way back to save memory.</source>
        <translation>
            <numerusform>Estimated peak. %Ln layer is computed again on the way back to save memory.</numerusform>
            <numerusform>Estimated peak. %Ln layers are computed again on the way back to save memory.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::AnswerCard</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::DataPage</name>
    <message numerus="yes">
        <source>Reading … %n row(s)</source>
        <translation>
            <numerusform>Reading … %Ln row</numerusform>
            <numerusform>Reading … %Ln rows</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%Ln row</numerusform>
            <numerusform>%Ln rows</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Split %1, %n row(s)</source>
        <translation>
            <numerusform>Split %1, %Ln row</numerusform>
            <numerusform>Split %1, %Ln rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::ExportPage</name>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation>
            <numerusform>%Ln file</numerusform>
            <numerusform>%Ln files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::LibraryPage</name>
    <message numerus="yes">
        <source>%n adapter(s)</source>
        <translation>
            <numerusform>%Ln adapter</numerusform>
            <numerusform>%Ln adapters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n group(s)</source>
        <translation>
            <numerusform>%Ln group</numerusform>
            <numerusform>%Ln groups</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n adapters chosen</source>
        <translation>
            <numerusform>%Ln adapter chosen</numerusform>
            <numerusform>%Ln adapters chosen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Move %n adapters to the trash?</source>
        <translation>
            <numerusform>Move %Ln adapter to the trash?</numerusform>
            <numerusform>Move %Ln adapters to the trash?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MachineCard</name>
    <message numerus="yes">
        <source>%n thread(s)</source>
        <translation>
            <numerusform>%Ln thread</numerusform>
            <numerusform>%Ln threads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MainWindow</name>
    <message numerus="yes">
        <source>Processor · %n thread(s)</source>
        <translation>
            <numerusform>Processor · %Ln thread</numerusform>
            <numerusform>Processor · %Ln threads</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::MethodPage</name>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%Ln step</numerusform>
            <numerusform>%Ln steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n epoch(s)</source>
        <translation>
            <numerusform>%Ln epoch</numerusform>
            <numerusform>%Ln epochs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>In all %n block(s).</source>
        <translation>
            <numerusform>In all %Ln block.</numerusform>
            <numerusform>In all %Ln blocks.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 schedule, warms up over %n step(s).</source>
        <translation>
            <numerusform>%1 schedule, warms up over %Ln step.</numerusform>
            <numerusform>%1 schedule, warms up over %Ln steps.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunCard</name>
    <message numerus="yes">
        <source>%n row(s) used</source>
        <translation>
            <numerusform>%Ln row used</numerusform>
            <numerusform>%Ln rows used</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s)</source>
        <translation>
            <numerusform>%Ln row</numerusform>
            <numerusform>%Ln rows</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::RunsPage</name>
    <message numerus="yes">
        <source>%n run(s) in %1</source>
        <translation>
            <numerusform>%Ln run in %1</numerusform>
            <numerusform>%Ln runs in %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lorikeet::ui::TokenRowView</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
</TS>
