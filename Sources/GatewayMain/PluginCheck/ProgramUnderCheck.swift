import Concurrency
import Conformance
import Exec
import GatewayKit
import Link
import Logging
import Synchronization
import Vitals

/// A program in the role of a device: each session starts it anew.
final class ProgramUnderCheck: Sendable {
    /// The grace period for a program that is known not to end by itself.
    private static let shortGrace: Duration = .milliseconds(100)

    private let transport: ExecTransport
    private let driver: LinkDriver
    private let context: SessionContext
    private let timeout: Duration
    private let audit = Mutex(LinkAudit())
    private let forcedEndings = Mutex<[String]>([])

    /// Prepares a program.
    /// - Throws: every error in its command.
    init(_ options: ProgramCheck.Options, calendar: LocalCalendar, clock: GatewayClock, logger: Logger) throws {
        var reader = ConfigurationReader(
            ConfigurationValue(
                .map([
                    (
                        ConfigurationKey("command"),
                        ConfigurationValue(
                            .list(options.command.map { ConfigurationValue(.scalar($0, isQuoted: true)) }))
                    )
                ])))
        transport = ExecTransport(options: &reader)
        var members = ConfigurationReader(
            ConfigurationValue(
                .map(
                    options.deviceOptions.map {
                        (ConfigurationKey($0.key), ConfigurationValue(.scalar($0.value, isQuoted: false)))
                    })))
        driver = LinkDriver(options: &members)
        guard let device = DeviceID("plugin-check"), reader.finish().isEmpty else {
            throw ProgramCheckError(reader.finish().map(\.message).joined(separator: " "))
        }
        context = SessionContext(
            device: device, gateway: (name: "vitals2mqtt", version: "plugin check"), calendar: calendar, clock: clock,
            logger: logger)
        timeout = options.timeout
    }

    /// How the program was ended, once for each time that it did not end by itself.
    var endings: [String] { forcedEndings.withLock { $0 } }
    /// How often each notification came.
    var notifications: [String: Int] { audit.withLock { $0.notifications } }

    /// The violations on the link since the last call.
    func takeViolations() -> [LinkAudit.Violation] { audit.withLock { $0.takeViolations() } }

    /// Starts the program, and opens a session with it, within its timeout.
    func open(_ body: @Sendable (any DeviceSession, DriverConformance.Peer) async throws -> Void) async throws {
        audit.withLock { $0.reset() }
        let isOpen = Promise<Void>()
        let limit: @Sendable () async throws -> Void = { [timeout, context] in
            try await context.clock.sleep(for: timeout)
            // An open session has no limit.
            if isOpen.value != nil { throw CancellationError() }
        }
        // The compiler cannot see that the race ends before this function.
        let outcome = await withoutActuallyEscaping(body) { body in
            await race(against: limit) { () async -> Result<Void, any Error> in
                do {
                    try await self.openWithoutLimit { session in
                        isOpen.fulfil(())
                        try await body(session, DriverConformance.Peer(disconnect: {}))
                    }
                    return .success(())
                } catch { return .failure(error) }
            }
        }
        guard let outcome else {
            throw DeviceError(.timeout, "initialize was not answered within \(timeout).")
        }
        try outcome.get()
    }

    private func openWithoutLimit(_ body: @Sendable (any DeviceSession) async throws -> Void) async throws {
        var transport = transport
        transport.grace = endings.isEmpty ? timeout : Self.shortGrace
        transport.onForcedEnd = { status in self.forcedEndings.withLock { $0.append(status) } }
        try await transport.withLink(context: LinkContext(device: context.device, logger: context.logger)) { link in
            guard case .bytes(let stream) = link else { return }
            let audited = AuditedLink(stream) { check in self.audit.withLock { check(&$0) } }
            try await driver.withSession(over: .bytes(audited), context: context, body)
        }
    }
}

/// Why a program cannot be checked.
package struct ProgramCheckError: Error, Sendable, CustomStringConvertible {
    /// The text for a person.
    package var description: String

    init(_ description: String) { self.description = description }
}
