#include "COneTBB.h"

#include <deque>
#include <oneapi/tbb/flow_graph.h>

namespace flow = oneapi::tbb::flow;

template <typename Body>
static void run(size_t count, const int32_t *offsets, const int32_t *dependencies, Body body) {
    flow::graph graph;
    std::deque<flow::continue_node<flow::continue_msg>> nodes;
    for (size_t i = 0; i < count; ++i) {
        nodes.emplace_back(graph, body);
        for (int32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
            flow::make_edge(nodes[dependencies[k]], nodes[i]);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        if (offsets[i] == offsets[i + 1]) { nodes[i].try_put(flow::continue_msg()); }
    }
    graph.wait_for_all();
}

extern "C" void onetbb_run(size_t count, const int32_t *offsets, const int32_t *dependencies,
                           void (*body)(intptr_t), intptr_t argument) {
    if (body == nullptr) {
        run(count, offsets, dependencies, [](const flow::continue_msg &) { return flow::continue_msg(); });
    } else {
        run(count, offsets, dependencies, [body, argument](const flow::continue_msg &) {
            body(argument);
            return flow::continue_msg();
        });
    }
}

extern "C" int64_t onetbb_run_value_chain(size_t count) {
    int64_t last = 0;
    flow::graph graph;
    std::deque<flow::function_node<int64_t, int64_t>> nodes;
    for (size_t i = 0; i < count; ++i) {
        if (i + 1 < count) {
            nodes.emplace_back(graph, flow::unlimited, [](int64_t value) { return value + 1; });
        } else {
            nodes.emplace_back(graph, flow::unlimited, [&last](int64_t value) { return last = value + 1; });
        }
        if (i > 0) { flow::make_edge(nodes[i - 1], nodes[i]); }
    }
    nodes[0].try_put(0);
    graph.wait_for_all();
    return last;
}
