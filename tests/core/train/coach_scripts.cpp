// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "tests/core/train/coach_runs.h"

namespace lorikeet::test {
namespace {

Rows first(Rows rows, std::size_t count) {
  rows.resize(std::min(rows.size(), count));
  return rows;
}

std::string random_words(std::mt19937_64& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    for (int letter = 0; letter < 4; ++letter) text += static_cast<char>('a' + random() % 26);
    text += ' ';
  }
  return text;
}

void answers_of_words(Rows& rows, int count) {
  std::mt19937_64 random(7);
  for (auto& row : rows) row["output"] = random_words(random, count);
}
void answers_of_chance(Rows& rows) {
  answers_of_words(rows, 12);
}
void long_questions_short_answers(Rows& rows) {
  std::string filler;
  for (int i = 0; i < 20; ++i) filler += "The fox and the hare went to the wood and saw the lantern. ";
  for (auto& row : rows) {
    row["input"] = filler;
    row["output"] = "y";
  }
}
void answers_of_one_word(Rows& rows) {
  for (auto& row : rows)
    row["output"] = row["instruction"].get<std::string>().find("fox") == std::string::npos ? "no" : "fox";
}

}  // namespace

const std::vector<CoachScript>& failing_scripts() {
  static const std::vector<CoachScript> scripts = {
      {"divergence: rate a hundred times too high", {{"learning-rate", "0.8"}}, {}},
      {"divergence: a rate that grows for the whole run",
       {{"learning-rate", "0.4"}, {"warmup-ratio", "1"}, {"max-steps", "120"}},
       {}},
      {"rate_too_high: no clipping, no warm-up",
       {{"learning-rate", "0.3"}, {"max-grad-norm", "0"}, {"warmup-ratio", "0"}},
       {}},
      {"rate_too_high: small batches",
       {{"learning-rate", "0.12"}, {"batch-size", "1"}, {"packing", "false"}},
       {}},
      {"rate_too_low: of big models' full training", {{"learning-rate", "1e-6"}}, {}},
      {"rate_too_low: constant", {{"learning-rate", "3e-6"}, {"schedule", "constant"}}, {}},
      {"overfitting: few rows, many epochs",
       {{"eval-fraction", "0.5"}, {"eval-every", "10"}, {"max-steps", "100"}, {"batch-size", "4"}},
       [](Rows& rows) { rows = first(rows, 24); }},
      {"overfitting: answers that have no rule",
       {{"eval-fraction", "0.3"},
        {"eval-every", "20"},
        {"max-steps", "240"},
        {"schedule", "constant"},
        {"batch-size", "4"}},
       [](Rows& rows) {
         rows = first(rows, 20);
         answers_of_chance(rows);
       }},
      {"masked_out: a letter after pages",
       {{"max-length", "512"}, {"max-steps", "20"}, {"batch-size", "2"}},
       long_questions_short_answers},
      {"masked_out: cut just behind the question",
       {{"max-length", "512"}, {"max-steps", "20"}, {"batch-size", "2"}},
       [](Rows& rows) {
         long_questions_short_answers(rows);
         for (std::size_t i = 0; i < rows.size(); i += 3)
           rows[i]["input"] = rows[i]["input"].get<std::string>() + "Once more.";
       }},
      {"not_finite: a broken weight", {{"max-steps", "30"}}, {}, CoachBase::broken},
      {"plateau: answers of chance",
       {{"schedule", "constant"}, {"max-steps", "160"}, {"epochs", "1"}, {"eval-every", "16"}},
       answers_of_chance,
       CoachBase::nest,
       0.75},
  };
  return scripts;
}

const std::vector<CoachScript>& good_scripts() {
  static const std::vector<CoachScript> scripts = {
      {"the sample", {}, {}},
      {"another seed, cosine", {{"seed", "11"}, {"schedule", "cosine"}}, {}},
      {"constant rate", {{"schedule", "constant"}, {"learning-rate", "0.004"}}, {}},
      {"small batches without packing",
       {{"packing", "false"}, {"batch-size", "2"}, {"accumulation", "2"}, {"learning-rate", "0.004"}},
       {}},
      {"32-bit optimiser, 16-bit base", {{"optimizer", "adamw"}, {"quantization", "none"}}, {}},
      {"a rank of 4 on attention alone", {{"rank", "4"}, {"alpha", "8"}, {"targets", "q_proj,v_proj"}}, {}},
      {"no evaluation", {{"eval-fraction", "0"}}, {}},
      {"answers of one word", {{"max-steps", "40"}}, answers_of_one_word},
      {"few rows, one epoch",
       {{"max-steps", "0"}, {"epochs", "1"}, {"batch-size", "2"}},
       [](Rows& rows) { rows = first(rows, 60); }},
      {"a long warm-up", {{"warmup-ratio", "0.5"}, {"schedule", "inverse-sqrt"}}, {}},
  };
  return scripts;
}

const std::vector<CoachScript>& held_out_failing_scripts() {
  static const std::vector<CoachScript> scripts = {
      {"divergence: low rank, cosine",
       {{"learning-rate", "0.9"}, {"rank", "8"}, {"schedule", "cosine"}, {"seed", "5"}, {"max-steps", "60"}},
       {}},
      {"divergence: another model",
       {{"learning-rate", "1"}, {"seed", "8"}, {"max-steps", "100"}, {"batch-size", "4"}},
       {},
       CoachBase::stories},
      {"divergence: another model, a rate that grows for the whole run",
       {{"learning-rate", "0.5"}, {"warmup-ratio", "1"}, {"seed", "43"}, {"max-steps", "100"}},
       {},
       CoachBase::stories},
      {"rate_too_high: batches of two, no clipping",
       {{"learning-rate", "0.2"}, {"max-grad-norm", "0"}, {"batch-size", "2"}, {"seed", "21"}},
       {}},
      {"rate_too_high: 32-bit optimiser, 16-bit base, rank 4",
       {{"learning-rate", "0.2"},
        {"optimizer", "adamw"},
        {"quantization", "none"},
        {"rank", "4"},
        {"seed", "6"}},
       {}},
      {"rate_too_low: rank 8, longer",
       {{"learning-rate", "5e-7"},
        {"optimizer", "adamw"},
        {"rank", "8"},
        {"seed", "42"},
        {"max-steps", "120"}},
       {}},
      {"rate_too_low: another model, cosine",
       {{"learning-rate", "2e-6"}, {"schedule", "cosine"}, {"max-steps", "100"}, {"seed", "3"}},
       {},
       CoachBase::stories},
      {"rate_too_low: no evaluation",
       {{"learning-rate", "1e-6"}, {"eval-fraction", "0"}, {"batch-size", "4"}, {"seed", "4"}},
       {}},
      {"overfitting: eight rows, rank 64",
       {{"eval-fraction", "0.5"},
        {"eval-every", "10"},
        {"max-steps", "150"},
        {"rank", "64"},
        {"schedule", "constant"},
        {"batch-size", "2"},
        {"seed", "9"}},
       [](Rows& rows) { rows = first(rows, 16); }},
      {"overfitting: another model, rows of instructions",
       {{"eval-fraction", "0.4"},
        {"eval-every", "15"},
        {"max-steps", "180"},
        {"batch-size", "4"},
        {"learning-rate", "0.01"},
        {"seed", "12"}},
       [](Rows& rows) { rows = first(rows, 30); },
       CoachBase::alpaca},
      {"masked_out: without packing",
       {{"max-length", "448"},
        {"max-steps", "20"},
        {"batch-size", "4"},
        {"packing", "false"},
        {"seed", "31"}},
       long_questions_short_answers},
      {"masked_out: another model",
       {{"max-length", "512"}, {"max-steps", "16"}, {"batch-size", "2"}, {"seed", "32"}},
       [](Rows& rows) {
         long_questions_short_answers(rows);
         for (auto& row : rows) row["input"] = row["input"].get<std::string>().substr(0, 700);
       },
       CoachBase::stories},
      {"not_finite: a broken weight, accumulation",
       {{"max-steps", "24"}, {"batch-size", "2"}, {"accumulation", "4"}, {"seed", "17"}},
       {},
       CoachBase::broken},
      {"not_finite: a broken weight, 16-bit base",
       {{"max-steps", "24"}, {"quantization", "none"}, {"schedule", "constant"}, {"seed", "18"}},
       {},
       CoachBase::broken},
      {"plateau: another model, answers of chance",
       {{"schedule", "constant"}, {"max-steps", "240"}, {"eval-every", "30"}, {"seed", "15"}},
       answers_of_chance,
       CoachBase::stories,
       0.75},
      {"plateau: another model, batches of four, 32-bit optimiser",
       {{"schedule", "constant"},
        {"max-steps", "400"},
        {"eval-every", "40"},
        {"batch-size", "4"},
        {"optimizer", "adamw"},
        {"learning-rate", "0.006"},
        {"seed", "44"}},
       answers_of_chance,
       CoachBase::stories,
       0.75},
      {"plateau: another model, short answers of chance, no evaluation",
       {{"schedule", "constant"},
        {"max-steps", "300"},
        {"eval-fraction", "0"},
        {"learning-rate", "0.004"},
        {"seed", "42"}},
       [](Rows& rows) { answers_of_words(rows, 6); },
       CoachBase::stories,
       0.75},
  };
  return scripts;
}

const std::vector<CoachScript>& held_out_good_scripts() {
  static const std::vector<CoachScript> scripts = {
      {"rank 8, lower rate, longer",
       {{"rank", "8"}, {"learning-rate", "0.003"}, {"max-steps", "120"}, {"seed", "1234"}},
       {}},
      {"accumulation, cosine with a floor",
       {{"batch-size", "4"},
        {"accumulation", "4"},
        {"schedule", "cosine-min"},
        {"min-rate", "0.1"},
        {"seed", "77"}},
       {}},
      {"rank 64, short",
       {{"rank", "64"}, {"alpha", "16"}, {"learning-rate", "0.01"}, {"max-steps", "60"}, {"seed", "2"}},
       {}},
      {"magnitude and direction apart", {{"dora", "true"}, {"learning-rate", "0.004"}, {"seed", "23"}}, {}},
      {"dropout, long",
       {{"dropout", "0.1"}, {"max-steps", "160"}, {"learning-rate", "0.005"}, {"seed", "24"}},
       {}},
      {"one row at a time",
       {{"packing", "false"},
        {"batch-size", "1"},
        {"accumulation", "4"},
        {"learning-rate", "0.003"},
        {"max-steps", "100"},
        {"seed", "25"}},
       {}},
      {"another model, rows of instructions",
       {{"learning-rate", "0.003"}, {"max-steps", "160"}, {"seed", "26"}},
       {},
       CoachBase::alpaca},
      {"another model, constant rate",
       {{"learning-rate", "0.004"}, {"schedule", "constant"}, {"max-steps", "200"}, {"seed", "27"}},
       {},
       CoachBase::stories},
      {"all tokens trained",
       {{"train-on", "all"}, {"learning-rate", "0.004"}, {"max-steps", "100"}, {"seed", "28"}},
       {}},
      {"a hundred rows, three epochs",
       {{"max-steps", "0"}, {"epochs", "3"}, {"batch-size", "2"}, {"learning-rate", "0.002"}, {"seed", "29"}},
       [](Rows& rows) { rows = first(rows, 100); }},
      {"noise on embeddings", {{"neftune", "5"}, {"learning-rate", "0.006"}, {"seed", "30"}}, {}},
      {"evaluated often",
       {{"eval-fraction", "0.2"},
        {"eval-every", "5"},
        {"learning-rate", "0.002"},
        {"schedule", "constant"},
        {"seed", "33"}},
       {}},
      {"four hundred small steps",
       {{"max-steps", "400"},
        {"batch-size", "2"},
        {"learning-rate", "0.002"},
        {"schedule", "cosine"},
        {"eval-every", "50"},
        {"seed", "34"}},
       {}},
      {"two hundred steps at a constant low rate",
       {{"max-steps", "200"},
        {"batch-size", "4"},
        {"learning-rate", "0.001"},
        {"schedule", "constant"},
        {"seed", "35"}},
       {}},
      {"another model, instructions, constant low rate",
       {{"learning-rate", "0.001"}, {"schedule", "constant"}, {"max-steps", "240"}, {"seed", "36"}},
       {},
       CoachBase::alpaca},
      {"another model, instructions, no evaluation",
       {{"learning-rate", "0.002"},
        {"eval-fraction", "0"},
        {"schedule", "constant"},
        {"max-steps", "200"},
        {"batch-size", "4"},
        {"seed", "37"}},
       {},
       CoachBase::alpaca},
  };
  return scripts;
}

}  // namespace lorikeet::test
