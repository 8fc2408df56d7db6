// swift-tools-version: 6.3
import Foundation
import PackageDescription

/// oneTBB's flow graph runs as a contestant when its headers are installed; BATON_BENCH_TBB=0 leaves it out, =1
/// insists.
///
/// SwiftPM caches what a manifest says: after installing or removing oneTBB, say it, as the Makefile does.
let hasOneTBB: Bool = {
    switch Context.environment["BATON_BENCH_TBB"] {
    case "0": false
    case "1": true
    default:
        ["/usr/include", "/usr/local/include"].contains {
            FileManager.default.fileExists(atPath: "\($0)/oneapi/tbb/flow_graph.h")
        }
    }
}()

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "baton-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "baton-bench", targets: ["BatonBench"]),
        .executable(name: "baton-http-bench", targets: ["HTTPBench"]),
    ],
    dependencies: [.package(name: "baton", path: "..")],
    targets: [
        .executableTarget(
            name: "BatonBench",
            dependencies: [
                .product(name: "Baton", package: "baton"), .product(name: "BatonTrace", package: "baton"),
            ] + (hasOneTBB ? ["COneTBB"] : []),
            swiftSettings: strict + (hasOneTBB ? [.define("ONETBB")] : [])
        ),
        .executableTarget(
            name: "HTTPBench",
            dependencies: [
                .product(name: "Baton", package: "baton"), .product(name: "BatonNetwork", package: "baton"),
                .product(name: "BatonNetworkTesting", package: "baton"),
            ],
            swiftSettings: strict
        ),
    ]
        + (hasOneTBB ? [.target(name: "COneTBB", linkerSettings: [.linkedLibrary("tbb")])] : []),
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
