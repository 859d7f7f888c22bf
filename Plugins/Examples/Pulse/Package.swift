// swift-tools-version: 6.2
import PackageDescription

/// `GatewayKit` is built with this feature; implementations of its protocols must agree with it on where an `async`
/// function runs.
let settings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// A driver in its own package, and a gateway with that driver. Copy this folder, and replace the path with
// `.package(url: "https://github.com/vitals2mqtt/vitals2mqtt", branch: "main")`.
let package = Package(
    name: "pulse-gateway",
    dependencies: [.package(name: "vitals2mqtt", path: "../../..")],
    targets: [
        .target(
            name: "Pulse", dependencies: [.product(name: "GatewayKit", package: "vitals2mqtt")],
            swiftSettings: settings),
        .executableTarget(
            name: "pulse-gateway", dependencies: ["Pulse", .product(name: "GatewayMain", package: "vitals2mqtt")],
            swiftSettings: settings),
        .testTarget(
            name: "PulseTests", dependencies: ["Pulse", .product(name: "GatewayTesting", package: "vitals2mqtt")],
            swiftSettings: settings),
    ]
)
