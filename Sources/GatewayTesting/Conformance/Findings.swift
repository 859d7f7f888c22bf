import GatewayKit
import Synchronization

/// What a check found.
final class Findings: Sendable {
    private let state = Mutex<(all: [String], expectsFailure: Bool)>(([], false))

    var all: [String] { state.withLock { $0.all } }
    /// Whether the check has ended the link itself.
    var expectsFailure: Bool { state.withLock { $0.expectsFailure } }

    func add(_ finding: String) { state.withLock { $0.all.append(finding) } }
    func expectFailure() { state.withLock { $0.expectsFailure = true } }

    /// Adds a finding if something is not so.
    func expect(_ condition: Bool, _ finding: @autoclosure () -> String) { if !condition { add(finding()) } }

    /// Adds a finding if something does not throw a device error of these codes.
    func expect(
        _ codes: Set<DeviceError.Code>, _ what: String, _ body: () async throws -> Void
    ) async {
        let names = codes.map(\.rawValue).sorted().joined(separator: " or ")
        do {
            try await body()
            add("\(what) succeeded; it should throw \(names).")
        } catch {
            guard let code = (error as? DeviceError)?.code, codes.contains(code) else {
                add("\(what) threw \(error); it should throw \(names).")
                return
            }
        }
    }
}
