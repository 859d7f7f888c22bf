import TestSupport
import Testing

@testable import BlueZ

/// Runs `body` with the address of a private bus: a real `dbus-daemon`, which ends with it.
func withPrivateBus(_ body: (String) async throws -> Void) async throws {
    try await withPrograms { programs in
        let daemon = programs.start("dbus-daemon", ["--session", "--nofork", "--nopidfile", "--print-address"])
        let events = try await daemon.events.wait(within: .seconds(20)) { !$0.isEmpty }
        let address = try #require(events.first?.text)
        try #require(address.hasPrefix("unix:"), "\(events.map(\.text))")
        try await body(address)
    }
}
