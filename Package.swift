// swift-tools-version: 6.3
import PackageDescription

/// With "thread", each lock is annotated for ThreadSanitizer, which does not recognize `Synchronization.Mutex` (see
/// CBaton). With any value, the largest tests are smaller.
let sanitizer = Context.environment["BATON_SANITIZE"]

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ] + (sanitizer == "thread" ? [.define("BATON_TSAN")] : []) + (sanitizer == nil ? [] : [.define("BATON_SANITIZED")])

/// With `BATON_TESTS=core`, as `make test` sets it, the tests of the engine are the only ones that are built.
let testsOnlyCore = Context.environment["BATON_TESTS"] == "core"

let coreTests: [Target] = [
    .testTarget(name: "BatonTests", dependencies: ["Baton", "BatonTesting"], swiftSettings: strict),
    .testTarget(name: "BatonTestingTests", dependencies: ["Baton", "BatonTesting"], swiftSettings: strict),
    .testTarget(name: "StressTests", dependencies: ["Baton", "BatonTesting"], swiftSettings: strict),
]

let moreTests: [Target] = [
    .testTarget(
        name: "BatonFoundationTests", dependencies: ["Baton", "BatonFoundation", "BatonTesting"],
        swiftSettings: strict),
    .testTarget(
        name: "BatonNetworkTests", dependencies: ["Baton", "BatonNetwork", "BatonNetworkTesting", "BatonTesting"],
        swiftSettings: strict),
    .testTarget(
        name: "BatonNetworkTestingTests", dependencies: ["Baton", "BatonNetwork", "BatonNetworkTesting"],
        swiftSettings: strict),
    .testTarget(
        name: "BatonProcessTests", dependencies: ["Baton", "BatonProcess", "BatonTesting"], swiftSettings: strict),
    .testTarget(
        name: "BatonTraceTests", dependencies: ["Baton", "BatonTesting", "BatonTrace"], swiftSettings: strict),
    // Written as a user writes, so these tests see public declarations only.
    .testTarget(
        name: "OutsideTests",
        dependencies: ["Baton", "BatonFoundation", "BatonProcess", "BatonTesting", "BatonTrace"],
        exclude: ["README.md"], packageAccess: false, swiftSettings: strict),
]

let package = Package(
    name: "baton",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Baton", targets: ["Baton"]),
        .library(name: "BatonFoundation", targets: ["BatonFoundation"]),
        .library(name: "BatonNetwork", targets: ["BatonNetwork"]),
        .library(name: "BatonNetworkTesting", targets: ["BatonNetworkTesting"]),
        .library(name: "BatonProcess", targets: ["BatonProcess"]),
        .library(name: "BatonTesting", targets: ["BatonTesting"]),
        .library(name: "BatonTrace", targets: ["BatonTrace"]),
    ],
    targets: [
        .target(name: "CBaton"),
        .target(name: "Baton", dependencies: ["CBaton"], swiftSettings: strict),
        .target(name: "BatonFoundation", dependencies: ["Baton"], swiftSettings: strict),
        // Empty on Apple's platforms, whose default transport is URLSession.
        .target(name: "CBatonCurl", linkerSettings: [.linkedLibrary("curl", .when(platforms: [.linux]))]),
        .target(
            name: "BatonNetwork",
            dependencies: ["Baton", .target(name: "CBatonCurl", condition: .when(platforms: [.linux]))],
            swiftSettings: strict),
        .target(name: "BatonNetworkTesting", dependencies: ["Baton", "BatonNetwork"], swiftSettings: strict),
        .target(name: "CBatonProcess"),
        .target(name: "BatonProcess", dependencies: ["Baton", "CBatonProcess"], swiftSettings: strict),
        .target(name: "BatonTesting", dependencies: ["Baton"], swiftSettings: strict),
        .target(name: "BatonTrace", dependencies: ["Baton"], swiftSettings: strict),
    ] + coreTests + (testsOnlyCore ? [] : moreTests),
    swiftLanguageModes: [.v6]
)
