import GatewayKit
import JSON
import Vitals

extension LinkConnection {
    /// The version of Vitals Link that this driver speaks.
    static let version = 1

    /// Asks the device for its description. The device may take any time, as long as it answers a `ping` whenever
    /// nothing was received for `DeviceTimeouts.idle`.
    /// - Throws: `timeout` if a ping stays unanswered, `unsupported` for another version of the protocol.
    func initialize(options: JSONValue) async throws -> DeviceDescription {
        try await withThrowingTaskGroup(of: DeviceDescription?.self) { group in
            group.addTask { try await self.askWhoIsThere(options) }
            group.addTask {
                try await self.keepAlive()
                return nil
            }
            defer { group.cancelAll() }
            guard let description = try await group.next() ?? nil else { throw CancellationError() }
            return description
        }
    }

    /// Any answer is a sign of life, even an error.
    func ping() async throws(DeviceError) {
        do {
            try await call("ping") { _ in }
        } catch  where error.code != .disconnected {
        }
    }

    private func askWhoIsThere(_ options: JSONValue) async throws(DeviceError) -> DeviceDescription {
        let answer = try await call("initialize") { params in
            params.member("protocol", Self.version)
            params.member("gateway") { gateway in
                gateway.member("name", context.gateway.name)
                gateway.member("version", context.gateway.version)
            }
            params.member("options", options)
        } reading: { (reader) throws(JSONError) in
            try JSONValue(from: &reader)
        }
        guard let version = answer["protocol"]?.asInt else {
            throw DeviceError(
                .failure, "The device's answer to initialize has no protocol; it must be \(Self.version).")
        }
        guard version == Self.version else {
            throw DeviceError(
                .unsupported,
                "The device speaks Vitals Link \(version), this gateway \(Self.version). Update one of them.")
        }
        return try DeviceDescription(link: answer)
    }

    /// Pings an idle device until the task is cancelled.
    private func keepAlive() async throws {
        let clock = context.clock
        while true {
            let quiet = clock.uptime - lastReceived
            if quiet < DeviceTimeouts.idle {
                try await clock.sleep(for: DeviceTimeouts.idle - quiet)
                continue
            }
            let answer = await clock.withTimeout(DeviceTimeouts.ping) { () async -> Result<Void, any Error> in
                do { return .success(try await self.ping()) } catch { return .failure(error) }
            }
            guard let answer else {
                throw DeviceError(.timeout, "The device did not answer a ping while it was being initialized.")
            }
            try answer.get()
        }
    }
}
