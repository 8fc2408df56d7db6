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

/// Does the same for a chain of `count` nodes, the first of which returns 1, while each other adds 1 to its input.
/// Returns the result of the last node.
int64_t onetbb_run_value_chain(size_t count);

#ifdef __cplusplus
}
#endif
