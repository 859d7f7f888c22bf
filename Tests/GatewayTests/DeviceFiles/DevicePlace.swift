import Foundation
import Gateway
import Testing
import Vitals

/// A configuration file with a device `own`, and the folder of its `devices_from`.
struct DevicePlace {
    let path: String
    let folder: String
    let loader = ConfigurationLoader(plugins: TestPlugin.catalogue, environment: [:])

    static let text = """
        mqtt: {url: mqtt://127.0.0.1}
        devices_from: devices.d/
        devices:
          - {id: own, driver: toy}

        """

    /// Makes them with these files in the folder, and removes them after the test.
    static func with<Result>(
        _ files: [String: String] = [:], _ text: String = DevicePlace.text, _ body: (DevicePlace) throws -> Result
    ) throws -> Result {
        try withFolder { root in
            let folder = "\(root)/devices.d"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            for (name, text) in files { try write(text, to: name, in: folder) }
            return try body(DevicePlace(path: try write(text, to: "c.yaml", in: root), folder: folder))
        }
    }

    /// The ids of all devices.
    func devices() throws -> [String] { try loader.load(path).devices.map(\.info.id.text) }

    /// The errors, with `F` for the folder and `C` for the configuration file.
    func issues() -> [String] {
        do throws(ConfigurationError) {
            _ = try loader.load(path)
            return []
        } catch { return error.issues.map { short($0.text(file: path)) } }
    }

    /// Why something fails, in the same form.
    func failure(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no failure"
        } catch { return short("\(error)") }
    }

    func warnings() throws -> [String] { try loader.load(path).warnings.map { short($0.text(file: path)) } }

    func short(_ text: String) -> String { text.replacing(folder, with: "F").replacing(path, with: "C") }

    /// The names in the folder.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    func text(of name: String) throws -> String { try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
}
