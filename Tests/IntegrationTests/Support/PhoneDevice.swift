import Foundation
import JSON
import TestSupport

/// The example of a phone as bridge: an app that calls the gateway, with a fake of its SDK and a simulated band.
struct PhoneDevice {
    let id: String
    private let bench: Bench
    private let port: Int

    /// Writes the gateway's configuration, with a listener on a free port, and the phone's token. With certificates the listener speaks
    /// TLS.
    init(_ id: String, on bench: Bench, tls: Certificates? = nil) throws {
        self.id = id
        self.bench = bench
        port = try freePort()
        try "secret-of-\(id)\n".write(toFile: bench.path("\(id).gateway-token"), atomically: true, encoding: .utf8)
        try token("secret-of-\(id)")
        try band("{}")
        let device =
            "{id: \(id), name: \(id), driver: link, transport: "
            + "{type: tcp, listen: true, token: {file: \"\(bench.path("\(id).gateway-token"))\"}}}"
        // The days of the phone are those of this machine's zone.
        let security = tls.map { ", tls: {certificate: \"\($0.server)\", key: \"\($0.serverKey)\"}" } ?? ""
        try bench.configure(
            [device], zone: TimeZone.current.identifier,
            plugins: "{tcp: {listen: \"127.0.0.1:\(port)\"\(security)}}")
    }

    /// Sets the token with which the phone introduces itself from its next call on.
    func token(_ text: String) throws {
        try text.write(toFile: bench.path("\(id).token"), atomically: true, encoding: .utf8)
    }

    /// Changes the band's state, see `phone_band.py`. What the JSON leaves out stays as it is.
    func band(_ state: String) throws {
        try state.write(toFile: bench.path("\(id).band"), atomically: true, encoding: .utf8)
    }

    /// Changes the band's state together with its battery, and waits until the consumer has that: then all of it holds.
    func band(battery percent: Int, _ members: String) async throws {
        let start = bench.position
        try band("{\"battery\":\(percent),\(members)}")
        try await bench.message("\(id)/latest/battery", from: start) { $0.json["value"]?.asInt == percent }
    }

    /// Starts the app. It calls until the gateway takes its call.
    /// - Parameter ca: the certificate that it trusts; without one it speaks no TLS.
    func start(interval: Double = 0.3, ca: String? = nil) -> ChildProgram {
        bench.programs.start(
            "python3",
            [
                "-B", Repository.phone, "--port", "\(port)", "--device", id, "--token-file", bench.path("\(id).token"),
                "--outbox", bench.path("\(id).outbox"), "--band", bench.path("\(id).band"), "--journal",
                bench.path("\(id).journal"), "--interval", "\(interval)", "--first-wait", "0.2",
            ] + (ca.map { ["--ca", $0] } ?? []))
    }

    /// The calls so far: those of the gateway, and with `SDK ` before their names those of the SDK.
    func journal() throws -> Journal { try Journal(bench.path("\(id).journal")) }
}
