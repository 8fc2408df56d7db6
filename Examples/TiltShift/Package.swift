// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "tiltshift",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "tiltshift", targets: ["tiltshift"])],
    dependencies: [.package(name: "baton", path: "../..")],
    targets: [
        .systemLibrary(name: "LibVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
        .systemLibrary(
            name: "LibSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
        .systemLibrary(name: "LibGetopt"),
        .target(name: "CPicture", dependencies: ["LibVips"]),
        .target(
            name: "Miniatures",
            dependencies: [
                .product(name: "Baton", package: "baton"),
                .product(name: "BatonNetwork", package: "baton"),
                .product(name: "BatonTrace", package: "baton"),
                "CPicture", "LibSodium",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "tiltshift",
            dependencies: [
                .product(name: "Baton", package: "baton"),
                .product(name: "BatonTrace", package: "baton"),
                "LibGetopt", "Miniatures",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "MiniaturesTests",
            dependencies: [
                .product(name: "Baton", package: "baton"),
                .product(name: "BatonProcess", package: "baton"),
                "Miniatures", "tiltshift",
            ],
            exclude: ["Support/server.py"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
