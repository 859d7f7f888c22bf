import Foundation
import Gateway
import GatewayKit
import MQTT
import Testing

@Suite struct ConfigurationLoaderTests {
    private let loader = ConfigurationLoader(plugins: TestPlugin.catalogue, environment: [:])

    private func issues(_ path: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try loader.load(path)
            return []
        } catch {
            return error.issues.map { $0.text(file: path) }
        }
    }

    @Test func `finds what a file names beside it`() throws {
        try withFolder { folder in
            let path = try write("mqtt: {url: mqtt://h}\nstore: {path: data/v.sqlite}\n", to: "c.yaml", in: folder)
            #expect(try loader.load(path).store.path == "\(folder)/data/v.sqlite")
        }
    }

    @Test func `says that a file is missing`() {
        #expect(
            issues("/nowhere/c.yaml") == [
                "/nowhere/c.yaml: The configuration file cannot be read: it does not exist. Name another one with --config or "
                    + "the variable VITALS2MQTT_CONFIG."
            ])
    }

    @Test func `refuses a file that is too long`() throws {
        try withFolder { folder in
            let text = "mqtt: {url: mqtt://h}\n#" + String(repeating: "x", count: ConfigurationLimits.fileSize)
            let path = try write(text, to: "c.yaml", in: folder)
            #expect(issues(path) == ["\(path): The configuration file is longer than 4194304 bytes."])
        }
    }

    @Test func `finds the line of bytes that are no text`() throws {
        try withFolder { folder in
            let path = "\(folder)/c.yaml"
            try (Data("a: é\nb: 1\nc: ".utf8) + Data([0xFF, 0xFE]) + Data("\nd: 1\n".utf8)).write(
                to: URL(filePath: path))
            #expect(issues(path) == ["\(path):3: The configuration file is not UTF-8 text (line 3)."])
        }
    }

    @Test func `takes a byte order mark and line ends of other systems`() throws {
        try withFolder { folder in
            let path = try write("\u{FEFF}mqtt:\r\n  url: mqtt://h\r\nlog: {level: x}\r\n", to: "c.yaml", in: folder)
            #expect(issues(path).first?.hasPrefix("\(path):3: log.level: ") == true)
        }
    }

    /// A part of a PEM file with the shortest sequence in DER that is not empty.
    private static func pem(_ label: String, _ body: String = "MAMCAQA=") -> String {
        "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }

    @Test(arguments: ["", "AAAA", "MAMCAQA", "no base64", "MAMCAQA=\n-----BEGIN CERTIFICATE-----"])
    func `refuses certificates and keys of the broker that no library could read`(body: String) throws {
        try withFolder { folder in
            try write(Self.pem("CERTIFICATE") + Self.pem("CERTIFICATE", body), to: "ca.pem", in: folder)
            try write(Self.pem("CERTIFICATE"), to: "client.pem", in: folder)
            try write(Self.pem("PRIVATE KEY", body), to: "key.pem", in: folder, permissions: 0o600)
            let text =
                "mqtt: {url: mqtts://h, tls: {ca_file: ca.pem, certificate_file: client.pem, key_file: key.pem}}"
            let found = issuesOf(text, folder)
            let again = "is damaged, or of an unknown kind. Make or copy it again."
            #expect(
                found == [
                    "1: mqtt.tls.ca_file: The certificate in \(folder)/ca.pem \(again)",
                    "1: mqtt.tls.key_file: The private key in \(folder)/key.pem \(again)",
                ])
        }
    }

    @Test func `checks certificates as far as it can`() throws {
        try withFolder { folder in
            try write(Self.pem("CERTIFICATE"), to: "ca.pem", in: folder)
            try write(Self.pem("PRIVATE KEY"), to: "key.pem", in: folder, permissions: 0o644)
            try write("nothing\n", to: "bad.pem", in: folder)
            let good =
                "mqtt: {url: mqtts://h, tls: {ca_file: ca.pem, certificate_file: ca.pem, key_file: key.pem, check_hostname: no}}"
            let configuration = try load(good, in: folder)
            #expect(configuration.mqtt.tls.caFile == "\(folder)/ca.pem")
            #expect(!configuration.mqtt.tls.checksHostname)
            let paths = configuration.warnings.map(\.path)
            #expect(paths.contains("mqtt.tls.key_file"))
            #expect(paths.contains("mqtt.tls.check_hostname"))
            let bad = "mqtt: {url: mqtts://h, tls: {ca_file: bad.pem, certificate_file: ca.pem}}"
            let found = issuesOf(bad, folder)
            #expect(found.contains("1: mqtt.tls.ca_file: \(folder)/bad.pem is not a PEM file (-----BEGIN …)."))
            #expect(found.contains("1: mqtt.tls.certificate_file: certificate_file and key_file belong together."))
            let key = issuesOf("mqtt: {url: mqtts://h, tls: {ca_file: key.pem}}", folder)
            #expect(key.contains { $0.hasPrefix("1: mqtt.tls.ca_file: \(folder)/key.pem has no certificate in it") })
        }
    }

    @Test(arguments: [
        ("CERTIFICATE", "The certificate in FILE is damaged, or of an unknown kind. Make or copy it again."),
        (
            "PRIVATE KEY",
            "FILE has no certificate in it (-----BEGIN CERTIFICATE-----). Set the file of the certificate."
        ),
    ]) func `refuses authorities for Home Assistant that cannot be read`(label: String, issue: String) throws {
        try withFolder { folder in
            try write("-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n", to: "ca.pem", in: folder)
            try write("secret", to: "token", in: folder)
            let text = "home_assistant: {url: \"https://h:8123\", token: {file: token}, ca_file: ca.pem}"
            let whole = "1: home_assistant.ca_file: " + issue.replacing("FILE", with: "\(folder)/ca.pem")
            #expect(issuesOf(text, folder).contains(whole), "\(issuesOf(text, folder))")
        }
    }

    @Test func `takes a certificate file of a mebibyte, and no longer one`() throws {
        try withFolder { folder in
            let text = "mqtt: {url: mqtts://h, tls: {ca_file: ca.pem}}"
            // A text may stand before the certificate.
            let certificate = Self.pem("CERTIFICATE")
            let longest = String(repeating: "x", count: 1_048_575 - certificate.utf8.count) + "\n" + certificate
            try write(longest, to: "ca.pem", in: folder)
            #expect(try load(text, in: folder).mqtt.tls.caFile == "\(folder)/ca.pem")
            try write(longest + "\n", to: "ca.pem", in: folder)
            let issue = "1: mqtt.tls.ca_file: \(folder)/ca.pem is longer than 1048576 bytes."
            #expect(issuesOf(text, folder).contains(issue))
        }
    }
}

private func issuesOf(_ text: String, _ folder: String) -> [String] { issues(text, in: folder) }
