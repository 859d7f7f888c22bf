import GatewayKit
import Simulator
import TestSupport
import Vitals

/// A simulated wearable, at noon of a winter's day: the device of all conformance tests, over every transport.
struct Wearable: Sendable {
    /// The simulator's models.
    static let models = ["band", "ring", "cuff", "oximeter"]
    /// 2026-01-14 12:00 in Berlin: its wearer is up, it is worn, and nothing charges.
    static let noon = Timestamp(seconds: 1_768_388_400)
    /// Sixty times as fast as real time, from noon: inflating a cuff takes forty seconds, too long for a test.
    static var clock: GatewayClock { .scaled(by: 60, from: noon) }
    /// Days of history; an oximeter has fewer.
    static let historyDays = 8

    let model: String
    let id: DeviceID
    private let calendar: LocalCalendar
    private let driver: SimulatorDriver

    init(model: String) throws {
        guard let id = DeviceID(model), let calendar = LocalCalendar(identifier: "Europe/Berlin") else {
            throw WearableError(description: "There is no \(model).")
        }
        self.model = model
        self.id = id
        self.calendar = calendar
        var options = ConfigurationReader(
            .section(["model": model, "seed": "3", "history_days": "\(Self.historyDays)"]))
        driver = SimulatorDriver(options: &options)
        guard options.finish().isEmpty else { throw WearableError(description: "The simulator has no \(model).") }
    }

    /// The session context for a driver.
    func context(_ clock: GatewayClock, _ log: LogRecorder = LogRecorder()) -> SessionContext {
        SessionContext(
            device: id, gateway: (name: "test", version: "1"), calendar: calendar, clock: clock, logger: log.logger)
    }

    /// Opens a session with the device itself.
    func withDevice(clock: GatewayClock, _ body: @Sendable (any DeviceSession) async throws -> Void) async throws {
        try await driver.withSession(over: .none, context: context(clock), body)
    }

    /// Opens a session with the device, controlled by a test.
    func withRecordingSession(
        clock: GatewayClock, _ body: @Sendable (RecordingSession) async throws -> Void
    ) async throws {
        try await withDevice(clock: clock) { device in
            let recording = RecordingSession(device)
            try await withThrowingTaskGroup { group in
                group.addTask { await recording.run() }
                defer { group.cancelAll() }
                try await body(recording)
            }
        }
    }
}

struct WearableError: Error, CustomStringConvertible {
    var description: String
}
