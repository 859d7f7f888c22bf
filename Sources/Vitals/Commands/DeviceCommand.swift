/// Commands for a device.
package enum DeviceCommand: Sendable, Hashable {
    /// Read the device's history: these metrics (all supported ones if empty) and this range (from the cursor if
    /// `nil`).
    case sync(metrics: [Metric], from: Timestamp?, to: Timestamp?)
    /// Start a measurement.
    case measure(Metric, duration: Duration)
    /// Stop the running measurement; a metric restricts this to measurements of that metric.
    case stopMeasuring(Metric?)
    /// Read the monitoring from the device now; of all monitored metrics if empty.
    case fetch(metrics: [Metric])
    /// Return a page of stored samples, on request after synchronising the range: those started by a person (`true`),
    /// the others (`false`), or all.
    /// (`true`), the others (`false`), or all.
    case history(
        Metric, from: Timestamp?, to: Timestamp?, limit: Int, page: String?, syncsFirst: Bool,
        isUserInitiated: Bool? = nil)
    /// Return stored days, on request after synchronising the range; on request with their samples.
    case daily(Metric, from: LocalDay, to: LocalDay, syncsFirst: Bool, listsItems: Bool = false)
    /// Set the device's clock.
    case time
    /// Close the link and open it again.
    case reconnect
    /// Note that a person has seen the active alert whose edge has this id.
    case acknowledge(SampleID, by: String)
    /// Note whose a sample is; without an id, the one that has waited longest.
    case assign(SampleID?, person: String)
    /// Take a sample back, which is a guest's or an error; without an id, the one that has waited longest.
    case withdraw(SampleID?)
    /// Change the monitoring.
    case configure(MonitorPatch, ifVersion: Int?, adopts: Bool)

    /// The command's name in its topic and in answers.
    package var name: String {
        switch self {
        case .sync: "sync"
        case .measure, .stopMeasuring: "measure"
        case .fetch: "fetch"
        case .history: "history"
        case .daily: "daily"
        case .time: "time"
        case .reconnect: "reconnect"
        case .acknowledge: "acknowledge"
        case .assign: "assign"
        case .withdraw: "withdraw"
        case .configure: "config/set"
        }
    }
}

/// Commands for the gateway.
package enum GatewayCommand: Sendable, Hashable {
    /// Synchronise every device.
    case sync
    /// Send facts with these numbers again.
    case replay(ClosedRange<Int64>)
    /// Publish discovery and all states again.
    case rediscover
    /// Read the configuration file again.
    case reload
    /// Look for devices in reach, with every plugin that can.
    case scan(duration: Duration)

    /// The command's name in its topic and in answers.
    package var name: String {
        switch self {
        case .sync: "sync"
        case .replay: "replay"
        case .rediscover: "rediscover"
        case .reload: "reload"
        case .scan: "scan"
        }
    }
}

/// The context of a command: who asked, until when it is valid, and where the answer goes.
package struct CommandEnvelope: Sendable, Hashable {
    /// The consumer's id of the command: the same command with the same id and content gets the same answer within ten minutes.
    package var id: String?
    /// The fingerprint of a valid command's arguments, if it has an id: a UUID of version 5, as `SampleID.init(name:)` makes it.
    package var content: SampleID?
    /// The device addressed; `nil` for the gateway.
    package var device: DeviceID?
    /// The command's name in the topic.
    package var command: String
    /// The command is not started after this time.
    package var expiresAt: Timestamp?
    /// The MQTT 5 response topic; `nil` if the answer goes to the `response` topic of the device or gateway.
    package var responseTopic: String?
    /// MQTT 5 correlation data, to be returned with the answer.
    package var correlation: [UInt8]?
    /// Whether commands with the same id and other content are several, and not one whose id is used again: the id of an acknowledgement
    /// is that of the alert, which several persons may have seen.
    package var isNamedByContent = false
    /// Whether the command runs each time: its id is that of a sample, which somebody may assign to one, to another, and to the first again.
    package var isRunEachTime = false
    /// Who waits for the answers in this process, in place of a topic; `nil` for a sender of MQTT.
    package var caller: CommandCaller?

    package init(
        id: String? = nil, content: SampleID? = nil, device: DeviceID?, command: String, expiresAt: Timestamp? = nil,
        responseTopic: String? = nil, correlation: [UInt8]? = nil
    ) {
        self.id = id
        self.content = content
        self.device = device
        self.command = command
        self.expiresAt = expiresAt
        self.responseTopic = responseTopic
        self.correlation = correlation
    }
}

/// A caller of this process who waits for the answers to a command.
package final class CommandCaller: Sendable, Hashable {
    /// Called with each answer, the payload that MQTT would get, and whether it is the final one. It must not block.
    package let receive: @Sendable (_ payload: [UInt8], _ isFinal: Bool) -> Void

    package init(_ receive: @escaping @Sendable (_ payload: [UInt8], _ isFinal: Bool) -> Void) {
        self.receive = receive
    }

    package static func == (a: CommandCaller, b: CommandCaller) -> Bool { a === b }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension CommandEnvelope {
    /// Whom the command concerns, and so who may have its answer: a device, or the gateway itself.
    package var scope: String { device?.text ?? DeviceID.reserved }

    /// What the log remembers the command by: its scope, its name and its id, and its content if it is named by that, joined by spaces, of
    /// which neither scope nor name has one; `nil` without an id of its own.
    package var key: String? {
        if isRunEachTime { return nil }
        let name = isNamedByContent ? content.map { " \($0)" } ?? "" : ""
        return id.map { "\(scope) \(command) \($0)\(name)" }
    }

    /// The scope in a key.
    package static func scope(inKey key: String) -> String { String(key.prefix { $0 != " " }) }
}
