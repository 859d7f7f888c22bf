import Foundation

/// The paths of the repository's files and of the built program.
enum Repository {
    /// The folder of `Package.swift`.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path(percentEncoded: false)

    /// A file of the repository.
    static func file(_ path: String) -> String { (root.hasSuffix("/") ? root : root + "/") + path }

    /// The Python wearable that serves a CSV file.
    static let device = file("Plugins/Link/Examples/csv_heart_rate.py")
    /// Its 68 heart rates.
    static let heartRates = file("Plugins/Link/Examples/ppg_heart_rate.csv")
    /// The app's side of a phone as bridge, with a fake of its SDK.
    static let phone = file("Plugins/Link/Examples/phone_bridge.py")

    /// A program or file that only these tests use.
    static func fixture(_ name: String) -> String { file("Tests/IntegrationTests/Fixtures/\(name)") }

    /// The gateway built with these tests, in the folder of the test bundle.
    static let gateway: String = {
        let bundle = URL(filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
        let folders =
            [bundle.deletingLastPathComponent(), bundle, Bundle.main.bundleURL]
            .map { $0.path(percentEncoded: false) } + [file(".build/debug")]
        return folders.map { ($0.hasSuffix("/") ? $0 : $0 + "/") + "vitals2mqtt" }
            .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "vitals2mqtt"
    }()
}
