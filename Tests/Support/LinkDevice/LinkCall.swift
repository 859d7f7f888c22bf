import GatewayKit
import JSON
import Vitals

/// A call of the gateway, with its parameters and the device's answer.
struct LinkCall: Sendable {
    /// The answer that only confirms a call.
    static let nothing: [UInt8] = Array("{}".utf8)
    /// The longest result, in bytes: the longest line of the protocol, less the text around the result.
    static let longestResult = 262_144 - 200

    let session: any DeviceSession
    let params: JSONValue

    init(_ session: any DeviceSession, _ params: JSONValue) {
        self.session = session
        self.params = params
    }

    func result(of method: String) async -> Result<[UInt8], LinkFailure> {
        do {
            let bytes = try await perform(method)
            guard bytes.count <= Self.longestResult else {
                return .failure(LinkFailure(6, "The answer is longer than a line may be."))
            }
            return .success(bytes)
        } catch let error as LinkFailure {
            return .failure(error)
        } catch let error as DeviceError {
            return .failure(LinkFailure(error))
        } catch {
            return .failure(LinkFailure(6, "\(error)"))
        }
    }

    private func perform(_ method: String) async throws -> [UInt8] {
        switch method {
        case "initialize": return object { $0.linkGreeting(session.description, version: LinkServer.version) }
        case "time/set":
            try await session.setClock(try moment("now"), utcOffset: try integer("utc_offset_min"))
        case "history/read": return try await history()
        case "history/acknowledge":
            try await session.acknowledgeHistory(of: try metric, through: try moment("through"))
        case "summary/read":
            let (from, to) = (try day("from_day"), try day("to_day"))
            guard from <= to else { throw LinkFailure.invalidParams("to_day") }
            let days = try await session.summaries(of: try metric, days: from...to)
            return object { $0.member("days", array: days) { $0.linkSummary($1) } }
        case "monitor/read":
            let configuration = try await session.monitorConfiguration(of: try metric)
            return object { $0.member("configuration", configuration.onLink) }
        case "monitor/write":
            let metric = try metric
            guard let value = params["configuration"],
                let configuration = MonitorConfiguration(onLink: value, of: metric)
            else { throw LinkFailure.invalidParams("configuration") }
            try await session.setMonitorConfiguration(configuration)
        case "measurement/start":
            let id = try await session.startMeasurement(
                of: try metric, duration: .seconds(try integer("duration_s")))
            return object { $0.member("measurement", id.text) }
        case "measurement/stop":
            guard let id = params["measurement"]?.asString else { throw LinkFailure.invalidParams("measurement") }
            try await session.stopMeasurement(MeasurementID(id))
        case "ping": try await session.ping()
        default: throw LinkFailure.methodNotFound
        }
        return Self.nothing
    }

    /// A page of history; shorter than requested if its records would not fit into a line.
    private func history() async throws -> [UInt8] {
        var request = HistoryRequest(
            metric: try metric, from: try moment("from"), to: try moment("to"), page: params["page"]?.asString,
            limit: try integer("limit"))
        while true {
            let page = try await session.history(request)
            let bytes = object { writer in
                writer.key("samples")
                writer.beginArray()
                for sample in page.samples { writer.linkSample(sample) }
                // Records that the device could not read become records that the gateway cannot read.
                for _ in 0..<page.malformed { writer.null() }
                writer.endArray()
                writer.member("next", page.next)
            }
            if bytes.count <= Self.longestResult || page.samples.count <= 1 { return bytes }
            request.limit = page.samples.count / 2
        }
    }

    private func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return writer.bytes
    }

    private var metric: Metric {
        get throws(LinkFailure) {
            guard let name = params["metric"]?.asString else { throw .invalidParams("metric") }
            guard let metric = Metric(rawValue: name) else { throw LinkFailure(.unsupported(name)) }
            return metric
        }
    }

    private func integer(_ name: String) throws(LinkFailure) -> Int {
        guard let value = params[name]?.asInt else { throw .invalidParams(name) }
        return value
    }

    private func moment(_ name: String) throws(LinkFailure) -> Timestamp {
        guard let value = params[name]?.asInt64 else { throw .invalidParams(name) }
        return Timestamp(milliseconds: value)
    }

    private func day(_ name: String) throws(LinkFailure) -> LocalDay {
        guard let day = params[name]?.asString.flatMap({ LocalDay($0) }) else { throw .invalidParams(name) }
        return day
    }
}

extension JSONWriter {
    /// Writes the members of the answer to `initialize`.
    mutating func linkGreeting(_ description: DeviceDescription, version: Int) {
        let identity = description.identity
        let capabilities = description.capabilities
        member("protocol", version)
        member("device") { device in
            device.member("manufacturer", identity.manufacturer)
            device.member("model", identity.model)
            device.member("serial", identity.serial)
            device.member("firmware", identity.firmware)
            device.member("hardware", identity.hardware)
        }
        member("capabilities") { writer in
            for metric in Metric.allCases {
                guard let abilities = capabilities.metrics[metric] else { continue }
                writer.key(escaping: metric.rawValue)
                writer.beginObject()
                for (name, ability) in Abilities.named where abilities.contains(ability) {
                    writer.key(escaping: name)
                    writer.bool(true)
                }
                writer.endObject()
            }
            if let days = capabilities.maximumHistoryDays { writer.member("max_history_days", days) }
        }
        guard let clock = description.clock else { return }
        member("clock") { writer in
            writer.member("now", clock.now.milliseconds)
            writer.member("utc_offset_min", clock.utcOffset)
        }
    }
}
