// An object that the loader has mapped, read directly: the symbols that it defines, and where it contains addresses of
// other objects' symbols. Needs no C++ library, allocates nothing and takes no lock, so that the loader may be working
// at the same time.
#pragma once
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <initializer_list>

// The loader's tables contain addresses as numbers.
// NOLINTBEGIN(performance-no-int-to-ptr)
namespace lull {

#if defined(__x86_64__)
constexpr uint32_t relocation_of_address = R_X86_64_64, relocation_of_got = R_X86_64_GLOB_DAT,
                   relocation_of_call = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr uint32_t relocation_of_address = R_AARCH64_ABS64, relocation_of_got = R_AARCH64_GLOB_DAT,
                   relocation_of_call = R_AARCH64_JUMP_SLOT;
#endif

// The hash of a name for DT_GNU_HASH tables.
inline uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

class loaded_object {
 public:
  loaded_object() = default;
  explicit loaded_object(const dl_phdr_info& info) : base_(info.dlpi_addr), path_(info.dlpi_name) {
    for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info.dlpi_phdr[i];
      if (part.p_type == PT_DYNAMIC) read_dynamic(reinterpret_cast<const ElfW(Dyn)*>(base_ + part.p_vaddr));
      if (part.p_type == PT_GNU_RELRO) relro_ = {base_ + part.p_vaddr, base_ + part.p_vaddr + part.p_memsz};
      if (part.p_type == PT_LOAD) {
        if (part.p_vaddr + base_ < mapped_.begin) mapped_.begin = part.p_vaddr + base_;
        if (part.p_vaddr + base_ + part.p_memsz > mapped_.end) mapped_.end = part.p_vaddr + base_ + part.p_memsz;
      }
    }
  }

  [[nodiscard]] uintptr_t base() const { return base_; }
  [[nodiscard]] const char* path() const { return path_; }
  // The name by which programs link it, independent of the file's name; without one, the file's name.
  [[nodiscard]] const char* soname() const {
    const char* const slash = strrchr(path_, '/');
    return soname_ != 0 && names_ != nullptr ? names_ + soname_ : slash != nullptr ? slash + 1 : path_;
  }
  [[nodiscard]] bool contains(const void* address) const { return mapped_.holds(reinterpret_cast<uintptr_t>(address)); }
  // The loader protects these addresses after relocation.
  [[nodiscard]] bool is_protected(const void* address) const {
    return relro_.holds(reinterpret_cast<uintptr_t>(address));
  }

  // The symbol that it defines by this name, including one without a value, which the loader skips; null: none.
  [[nodiscard]] const ElfW(Sym) * symbol(const char* name, uint32_t hash) const {
    if (symbols_ == nullptr || names_ == nullptr) return nullptr;
    if (gnu_ != nullptr) return by_gnu_hash(name, hash);
    return sysv_ != nullptr ? by_sysv_hash(name) : nullptr;
  }
  [[nodiscard]] bool defines(const char* name, uint32_t hash) const {
    const ElfW(Sym)* const found = symbol(name, hash);
    return found != nullptr && found->st_value != 0;
  }
  [[nodiscard]] bool defines(const char* name) const { return defines(name, gnu_hash(name)); }

  // Calls symbol(entry, name) for each defined symbol, with or without a value.
  template <class F>
  void each_definition(F&& symbol) const {
    if (symbols_ == nullptr || names_ == nullptr || gnu_ == nullptr) return;
    const uint32_t buckets = gnu_[0], first = gnu_[1];
    const auto* const bucket = gnu_ + 4 + size_t{2} * gnu_[2];
    const uint32_t* const chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; ++i) {
      if (bucket[i] < first) continue;
      for (uint32_t at = bucket[i];; ++at) {
        symbol(symbols_[at], names_ + symbols_[at].st_name);
        if ((chain[at - first] & 1) != 0) break;
      }
    }
  }

  // Whether it has a non-weak reference to this name.
  [[nodiscard]] bool needs(const char* name) const {
    bool found = false;
    each_reference([&](const ElfW(Sym) & symbol, const char* of, uintptr_t*) {
      found = found || (ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL && strcmp(of, name) == 0);
    });
    return found;
  }

  // Calls place(symbol, name, location of the address) for each address of another object's symbol in this one.
  template <class F>
  void each_reference(F&& place) const {
    each_binding([&](const ElfW(Sym) & symbol, const char* name, uintptr_t* at) {
      if (symbol.st_shndx == SHN_UNDEF) place(symbol, name, at);
    });
  }
  // The same, also for symbols of this object that another one may replace.
  template <class F>
  void each_binding(F&& place) const {
    if (symbols_ == nullptr || names_ == nullptr) return;
    for (const table& of : {relocations_, calls_})
      for (const auto* r = of.begin; r != nullptr && r < of.end; ++r) {
        const auto type = static_cast<uint32_t>(ELF64_R_TYPE(r->r_info));
        if (type != relocation_of_got && type != relocation_of_call &&
            (type != relocation_of_address || r->r_addend != 0))
          continue;
        const ElfW(Sym)& of_symbol = symbols_[ELF64_R_SYM(r->r_info)];
        place(of_symbol, names_ + of_symbol.st_name, reinterpret_cast<uintptr_t*>(base_ + r->r_offset));
      }
  }

 private:
  struct range {
    uintptr_t begin, end;
    [[nodiscard]] bool holds(uintptr_t address) const { return address >= begin && address < end; }
  };
  struct table {
    const ElfW(Rela) * begin, *end;
  };

  void read_dynamic(const ElfW(Dyn) * entry) {
    size_t bytes = 0, bytes_of_calls = 0;
    const auto* relocations = static_cast<const char*>(nullptr);
    const auto* calls = static_cast<const char*>(nullptr);
    // glibc has added the base to these addresses, except for objects with a read-only dynamic section, such as the
    // kernel's.
    const auto at = [this](ElfW(Addr) address) {
      return reinterpret_cast<const char*>(address < base_ ? address + base_ : address);
    };
    for (; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols_ = reinterpret_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr));
          break;
        case DT_STRTAB:
          names_ = at(entry->d_un.d_ptr);
          break;
        case DT_GNU_HASH:
          gnu_ = reinterpret_cast<const uint32_t*>(at(entry->d_un.d_ptr));
          break;
        case DT_HASH:
          sysv_ = reinterpret_cast<const uint32_t*>(at(entry->d_un.d_ptr));
          break;
        case DT_SONAME:
          soname_ = entry->d_un.d_val;
          break;
        case DT_RELA:
          relocations = at(entry->d_un.d_ptr);
          break;
        case DT_RELASZ:
          bytes = entry->d_un.d_val;
          break;
        case DT_JMPREL:
          calls = at(entry->d_un.d_ptr);
          break;
        case DT_PLTRELSZ:
          bytes_of_calls = entry->d_un.d_val;
          break;
        default:
          break;
      }
    const auto as_table = [](const char* begin, size_t size) {
      return table{reinterpret_cast<const ElfW(Rela)*>(begin), reinterpret_cast<const ElfW(Rela)*>(begin + size)};
    };
    if (relocations != nullptr) relocations_ = as_table(relocations, bytes);
    if (calls != nullptr) calls_ = as_table(calls, bytes_of_calls);
  }

  [[nodiscard]] const ElfW(Sym) * by_gnu_hash(const char* name, uint32_t hash) const {
    const uint32_t buckets = gnu_[0], first = gnu_[1], words = gnu_[2], shift = gnu_[3];
    if (buckets == 0 || words == 0) return nullptr;
    const auto* const bloom = reinterpret_cast<const uint64_t*>(gnu_ + 4);
    const uint64_t word = bloom[hash / 64 % words];
    if ((word >> hash % 64 & word >> (hash >> shift) % 64 & 1) == 0) return nullptr;
    const uint32_t* const bucket = reinterpret_cast<const uint32_t*>(bloom + words);
    const uint32_t* const chain = bucket + buckets;
    uint32_t at = bucket[hash % buckets];
    if (at < first) return nullptr;
    for (;; ++at) {
      if ((chain[at - first] | 1) == (hash | 1) && is(symbols_[at], name)) return &symbols_[at];
      if ((chain[at - first] & 1) != 0) return nullptr;
    }
  }
  [[nodiscard]] const ElfW(Sym) * by_sysv_hash(const char* name) const {
    const uint32_t symbols = sysv_[1];
    for (uint32_t at = 1; at < symbols; ++at)
      if (is(symbols_[at], name)) return &symbols_[at];
    return nullptr;
  }
  [[nodiscard]] bool is(const ElfW(Sym) & symbol, const char* name) const {
    return symbol.st_shndx != SHN_UNDEF && strcmp(names_ + symbol.st_name, name) == 0;
  }

  uintptr_t base_ = 0;
  const char* path_ = "";  // the loader's text, valid while the object is loaded
  range mapped_{~uintptr_t{0}, 0}, relro_{0, 0};
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  size_t soname_ = 0;  // offset in names_
  const uint32_t *gnu_ = nullptr, *sysv_ = nullptr;
  table relocations_{nullptr, nullptr}, calls_{nullptr, nullptr};
};

// Calls until(object) for each loaded object, in symbol search order, until it returns true; returns whether it did.
template <class F>
bool each_loaded(F until) {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void* of) { return (*static_cast<F*>(of))(loaded_object(*info)) ? 1 : 0; },
             &until) != 0;
}

// Makes the pages between two addresses writable or read-only. Returns whether that succeeded.
inline bool let_write(const void* first, const void* last, bool write) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(first) & ~(page - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(last) & ~(page - 1)) + page;
  return mprotect(reinterpret_cast<void*>(begin), end - begin, write ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

// Calls change(symbol, name) for each definition in the object's symbol table.
template <class F>
void change_definitions(const loaded_object& object, F&& change) {
  const ElfW(Sym)* first = nullptr, *last = nullptr;
  object.each_definition([&](const ElfW(Sym) & symbol, const char*) {
    if (first == nullptr || &symbol < first) first = &symbol;
    if (last == nullptr || &symbol > last) last = &symbol;
  });
  if (first == nullptr || !let_write(first, last + 1, true)) return;  // leaves the table unchanged
  object.each_definition(
      [&](const ElfW(Sym) & symbol, const char* name) { change(const_cast<ElfW(Sym)&>(symbol), name); });
  let_write(first, last + 1, false);
}

// Sets the symbol's value, an offset in its object, and its type. The loader skips a symbol with the value 0. A thread
// that looks it up at the same time finds the old value, the new one or none.
inline void redefine(ElfW(Sym) & symbol, uintptr_t value, int type) {
  __atomic_store_n(&symbol.st_value, 0, __ATOMIC_SEQ_CST);
  if (value == 0) return;
  __atomic_store_n(&symbol.st_info, static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type)), __ATOMIC_SEQ_CST);
  __atomic_store_n(&symbol.st_value, value, __ATOMIC_SEQ_CST);
}

// Sets weak references of other objects to null if is_missing(address) returns true for what they were bound to, as if
// the symbol had not existed.
template <class F>
void unbind_weak_references(const loaded_object& from, F&& is_missing) {
  each_loaded([&](const loaded_object& object) {
    if (object.base() == from.base()) return false;
    object.each_reference([&](const ElfW(Sym) & symbol, const char*, uintptr_t* place) {
      if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || !is_missing(*place)) return;
      const bool is_protected = object.is_protected(place);
      if (is_protected && !let_write(place, place, true)) return;
      __atomic_store_n(place, 0, __ATOMIC_RELAXED);
      if (is_protected) let_write(place, place, false);
    });
    return false;
  });
}

}  // namespace lull
// NOLINTEND(performance-no-int-to-ptr)
