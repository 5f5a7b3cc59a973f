// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/text/tokenizer.h"

namespace lorikeet {

/// Token ids that are its own, or that lie in memory of somebody else who outlives it (a file of tokenised
/// rows). Behaves as a vector; the first change of borrowed ids makes them its own.
class TokenList {
 public:
  TokenList() = default;
  TokenList(std::vector<TokenId> ids) : own_(std::make_unique<std::vector<TokenId>>(std::move(ids))) {
    refresh();
  }
  TokenList(std::initializer_list<TokenId> ids) : TokenList(std::vector<TokenId>(ids)) {}
  static TokenList borrowed(const TokenId* ids, std::size_t count) {
    TokenList list;
    list.data_ = ids;
    list.size_ = count;
    return list;
  }
  TokenList(const TokenList& other) : data_(other.data_), size_(other.size_) {
    if (other.own_) *this = TokenList(*other.own_);
  }
  TokenList(TokenList&& other) noexcept { swap(other); }
  TokenList& operator=(TokenList other) noexcept {
    swap(other);
    return *this;
  }
  ~TokenList() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const TokenId* begin() const { return data_; }
  const TokenId* end() const { return data_ + size_; }
  TokenId* begin() { return own().data(); }
  TokenId* end() { return own().data() + size_; }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  const TokenId& operator[](std::size_t i) const { return data_[i]; }
  TokenId& operator[](std::size_t i) { return own()[i]; }
  const TokenId& front() const { return data_[0]; }
  const TokenId& back() const { return data_[size_ - 1]; }
  TokenId& front() { return own().front(); }
  TokenId& back() { return own().back(); }

  void push_back(TokenId id) {
    own().push_back(id);
    refresh();
  }
  void resize(std::size_t count, TokenId id = 0) {
    own().resize(count, id);
    refresh();
  }
  void assign(std::size_t count, TokenId id) { *this = TokenList(std::vector<TokenId>(count, id)); }
  template <std::input_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    *this = TokenList(std::vector<TokenId>(first, last));
  }
  operator std::vector<TokenId>() const { return {data_, data_ + size_}; }
  friend bool operator==(const TokenList& one, const TokenList& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end());
  }

 private:
  std::vector<TokenId>& own() {
    if (!own_) {
      own_ = std::make_unique<std::vector<TokenId>>(data_, data_ + size_);
      refresh();
    }
    return *own_;
  }
  void refresh() {
    data_ = own_->data();
    size_ = own_->size();
  }
  void swap(TokenList& other) noexcept {
    std::swap(own_, other.own_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::unique_ptr<std::vector<TokenId>> own_;
  const TokenId* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lorikeet
