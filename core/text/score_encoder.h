// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/text/sentencepiece_tokenizer.h"

namespace lorikeet {

/// SentencePiece's BPE by our own hand, for vocabularies that come without a tokenizer.model: merge the
/// adjacent pair that makes the piece with the highest score, the leftmost first; split unused pieces back;
/// spell unknown characters in byte pieces, else `unk`. Spaces become ▁, nothing else is normalised. `pieces`
/// by id, each valid UTF-8 with a finite score; user-defined ones are expected to be cut out in front.
std::unique_ptr<PieceEncoder> make_score_encoder(std::vector<ScoredPiece> pieces, TokenId unk);

}  // namespace lorikeet
