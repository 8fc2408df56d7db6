#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Builds a flow graph of `count` nodes, runs it, waits, and releases it.
///
/// The dependencies of node i are `dependencies[offsets[i] ..< offsets[i + 1]]`. `body` is called by every node with
/// `argument`, unless it is NULL: then the bodies are empty.
void onetbb_run(size_t count, const int32_t *offsets, const int32_t *dependencies, void (*body)(intptr_t),
                intptr_t argument);

/// The same for a chain of `count` nodes, the first of which makes 1 and each other adds 1 to what it is given.
/// Returns what the last one made.
int64_t onetbb_run_value_chain(size_t count);

#ifdef __cplusplus
}
#endif
