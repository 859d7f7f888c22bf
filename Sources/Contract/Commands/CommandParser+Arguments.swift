import JSON
import Vitals

extension CommandParser {
    /// A command of a device or of the gateway.
    enum Command {
        case device(DeviceCommand)
        case gateway(GatewayCommand)
        case passkey(Passkey)
    }

    /// Reads the arguments of a command; `nil` for an unknown command. The result is valid only if there are no
    /// violations.
    func command(_ request: Request, _ arguments: inout Arguments, at now: Timestamp) -> Command? {
        let command: Command
        if request.isConfig {
            guard !request.isGateway else { return nil }
            return .device(arguments.configuration())
        } else if request.isGateway {
            guard let name = GatewayCommandName(rawValue: request.name) else { return nil }
            command = .gateway(arguments.gatewayCommand(name))
        } else {
            guard let name = DeviceCommandName(rawValue: request.name) else { return nil }
            if name == .passkey {
                let passkey = arguments.passkey()
                arguments.refuseUnknown(of: request.name, envelope: Self.envelopeKeys)
                // Without one there is a violation.
                return passkey.map { Command.passkey($0) } ?? .device(.reconnect)
            }
            command = .device(arguments.deviceCommand(name, at: now, today: calendar.day(of: now)))
        }
        arguments.refuseUnknown(of: request.name, envelope: Self.envelopeKeys)
        return command
    }
}

extension Arguments {
    fileprivate mutating func passkey() -> Passkey? {
        require("passkey", "the six digits that the device shows, such as \"012345\"") { value in
            value.asString.flatMap { Passkey($0) } ?? value.asInt.flatMap { Passkey($0) }
        }
    }

    fileprivate mutating func gatewayCommand(_ name: GatewayCommandName) -> GatewayCommand {
        switch name {
        case .sync: .sync
        case .rediscover: .rediscover
        case .reload: .reload
        case .scan:
            .scan(
                duration: .seconds(
                    integer("duration_s", in: CommandLimits.scanSeconds) ?? CommandLimits.defaultScanSeconds))
        case .replay: .replay(numbers())
        }
    }

    private mutating func numbers() -> ClosedRange<Int64> {
        let expected = "a whole number from 1, as `seq` of a message"
        let read: (JSONValue) -> Int64? = { $0.asInt64.flatMap { $0 >= 1 ? $0 : nil } }
        let from = require("from_seq", expected, read)
        let to = require("to_seq", expected, read)
        guard let from, let to else { return 1...1 }
        guard from <= to else {
            refuse("to_seq", "must not be below from_seq")
            return 1...1
        }
        if to - from >= CommandLimits.replay {
            refuse("to_seq", "must be less than \(CommandLimits.replay) above from_seq; ask for the rest afterwards")
        }
        return from...to
    }

    fileprivate mutating func deviceCommand(
        _ name: DeviceCommandName, at now: Timestamp, today: LocalDay
    ) -> DeviceCommand {
        switch name {
        case .time: return .time
        case .reconnect, .passkey: return .reconnect
        case .acknowledge: return acknowledgement()
        case .assign:
            let sample = sample()
            let name = "the name of a person of the device: one line of 1 to \(Acknowledgement.nameLength) characters"
            let person = require("person", name) { $0.asString.flatMap { Acknowledgement.isName($0) ? $0 : nil } }
            return .assign(sample, person: person ?? "")
        case .withdraw: return .withdraw(sample())
        case .fetch: return .fetch(metrics: metrics("metrics", among: Metric.monitored))
        case .sync:
            let metrics = metrics("metrics", among: Metric.synchronised)
            let (from, to) = range(now: now)
            return .sync(metrics: metrics, from: from, to: to)
        case .measure: return measurement()
        case .history:
            let syncsFirst = bool("sync") ?? false
            let metric = metric(syncsFirst)
            let (from, to) = range(now: syncsFirst ? now : nil)
            let limit = integer("limit", in: CommandLimits.historyPage) ?? CommandLimits.defaultHistoryPage
            let page = text("page", maximumLength: CommandLimits.pageLength)
            return .history(
                metric, from: from, to: to, limit: limit, page: page, syncsFirst: syncsFirst,
                isUserInitiated: bool("user_initiated"))
        case .daily:
            let syncsFirst = bool("sync") ?? false
            let metric = metric(syncsFirst)
            let (from, to) = days(today: today)
            if syncsFirst {
                if from > today { refuse("from_day", "must not be in the future") }
                if to > today { refuse("to_day", "must not be in the future") }
            }
            return .daily(
                metric, from: from, to: to, syncsFirst: syncsFirst, listsItems: bool("items") ?? false)
        }
    }

    /// The requested metric: any stored one, or only one with a history on the device if the command synchronises
    /// first.
    private mutating func metric(_ isSynchronised: Bool) -> Metric {
        let allowed = isSynchronised ? Metric.synchronised : Metric.allCases
        return metric("metric", among: allowed, isRequired: true) ?? .heartRate
    }

    /// The `id` is the command's own, too, and may have been refused as such.
    private mutating func acknowledgement() -> DeviceCommand {
        let isRefused = violations.contains { $0.path == "id" }
        let expected = "the `id` of an alert's raised edge, as `last_id` of its level"
        let edge = isRefused ? nil : require("id", expected) { $0.asString.flatMap { SampleID($0) } }
        let name = "the name of the person who has seen it: one line of 1 to \(Acknowledgement.nameLength) characters"
        let person = require("by", name) { $0.asString.flatMap { Acknowledgement.isName($0) ? $0 : nil } }
        return .acknowledge(edge ?? SampleID(high: 0, low: 0), by: person ?? "")
    }

    /// The `id` is the command's own, too, and may have been refused as such.
    private mutating func sample() -> SampleID? {
        if violations.contains(where: { $0.path == "id" }) { return nil }
        return member("id", "the `id` of a sample; without one it is the sample that waits longest for its person") {
            $0.asString.flatMap { SampleID($0) }
        }
    }

    private mutating func measurement() -> DeviceCommand {
        let isStop = member("action", "start or stop") { value in
            ["start": false, "stop": true][value.asString ?? ""]
        }
        let metric = metric("metric", among: Metric.allCases, isRequired: isStop != true)
        let seconds = integer("duration_s", in: CommandLimits.measurementSeconds)
        if isStop == true { return .stopMeasuring(metric) }
        return .measure(
            metric ?? .heartRate, duration: .seconds(seconds ?? CommandLimits.defaultMeasurementSeconds))
    }
}
