// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "first-programs",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "baton", path: "../..")],
    targets: [
        .executableTarget(
            name: "Crawler",
            dependencies: [
                .product(name: "Baton", package: "baton"), .product(name: "BatonNetwork", package: "baton"),
            ]),
        .target(
            name: "MakeCore",
            dependencies: [
                .product(name: "Baton", package: "baton"), .product(name: "BatonProcess", package: "baton"),
            ]),
        .executableTarget(name: "Make", dependencies: ["MakeCore", .product(name: "Baton", package: "baton")]),
        .executableTarget(name: "ViewModel", dependencies: [.product(name: "Baton", package: "baton")]),
        .testTarget(
            name: "MakeTests",
            dependencies: [
                "MakeCore", .product(name: "Baton", package: "baton"),
                .product(name: "BatonTesting", package: "baton"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
