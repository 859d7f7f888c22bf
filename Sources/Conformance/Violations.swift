import GatewayKit
import Synchronization

/// The violations that a check found.
final class Violations: Sendable {
    private let state = Mutex<(all: [(text: String, code: DeviceError.Code?)], expectsFailure: Bool)>(([], false))

    var all: [(text: String, code: DeviceError.Code?)] { state.withLock { $0.all } }
    /// Whether the check itself has ended the link.
    var expectsFailure: Bool { state.withLock { $0.expectsFailure } }

    func add(_ violation: String, _ code: DeviceError.Code? = nil) {
        state.withLock { $0.all.append((violation, code)) }
    }
    func expectFailure() { state.withLock { $0.expectsFailure = true } }

    /// Adds a violation if a condition is false.
    func expect(_ condition: Bool, _ violation: @autoclosure () -> String) { if !condition { add(violation()) } }

    /// Adds a violation if `body` does not throw a device error with one of these codes.
    /// - Throws: a `timeout`, after which the session is of no further use.
    func expect(
        _ codes: Set<DeviceError.Code>, _ what: String, _ body: () async throws -> Void
    ) async throws {
        let names = codes.map(\.rawValue).sorted().joined(separator: " or ")
        do {
            try await body()
            add("\(what) succeeded; it should throw \(names).")
        } catch {
            let code = (error as? DeviceError)?.code
            if let code, codes.contains(code) { return }
            if code == .timeout { throw error }
            add("\(what) threw \(error); it should throw \(names).", code)
        }
    }
}
