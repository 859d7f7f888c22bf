import GatewayKit
import JSON
import Logging
import Vitals

/// The members of parameters that are about a measurement.
enum MeasurementKey: String, CaseIterable {
    case measurement, sample, completed, error
    static let words = JSONWords(of: MeasurementKey.self)
}

/// What a call of the device means, but for `sample`, which comes by the thousand and has its own way.
enum PeerCall {
    case event(DeviceEvent)
    case log(Logger.Level, String)

    /// The most characters of a message that go to the log.
    static let maximumLogLength = 1_000

    /// Reads a call's parameters.
    init(_ method: PeerMethod, _ params: inout JSONReader) throws(Malformed) {
        switch method {
        case .measurementSample, .measurementEnded:
            self = .event(try Self.measurement(method, &params))
        case .battery, .wear, .alert, .log, .sample:
            let value: JSONValue
            do {
                value = try JSONValue(from: &params)
            } catch {
                throw Malformed(error)
            }
            self = try Self.other(method, value)
        }
    }

    private static func other(_ method: PeerMethod, _ params: JSONValue) throws(Malformed) -> PeerCall {
        switch method {
        case .battery:
            guard let percent = params["percent"]?.asDouble, (0...100).contains(percent) else {
                throw Malformed("percent must be a number from 0 to 100")
            }
            return .event(.battery(percent: percent, isCharging: params["charging"]?.asBool))
        case .wear:
            guard let isWorn = params["worn"]?.asBool else { throw Malformed("worn must be true or false") }
            return .event(.wear(isWorn: isWorn))
        case .alert: return .event(.alert(try DeviceAlert(link: params)))
        case .log:
            guard let message = params["message"]?.asString else { throw Malformed("message must be a text") }
            return .log(Logger.Level(link: params["level"]?.asString), message.printable(atMost: maximumLogLength))
        case .sample, .measurementSample, .measurementEnded:
            throw Malformed("The method is no notification of this kind")
        }
    }

    private static func measurement(_ method: PeerMethod, _ params: inout JSONReader) throws(Malformed) -> DeviceEvent {
        var measurement: MeasurementID?
        var members: SampleMembers?
        var isCompleted: Bool?
        var failure: DeviceError?
        do {
            try params.beginObject()
            while let key = try params.nextKey(in: MeasurementKey.words) {
                switch key {
                case .measurement: measurement = MeasurementID(try LinkToken(from: &params).text)
                case .sample: members = try SampleMembers(from: &params)
                case .completed: isCompleted = try params.bool()
                case .error: failure = try params.takeNull() ? nil : try DeviceError(link: &params)
                }
            }
        } catch {
            throw Malformed(error)
        }
        guard let measurement else { throw Malformed("measurement is missing") }
        if method == .measurementSample {
            guard let members else { throw Malformed("sample is missing") }
            return .measurementSample(measurement, try Sample(members))
        }
        guard let isCompleted else { throw Malformed("completed must be true or false") }
        return .measurementEnded(measurement, completed: isCompleted, error: failure)
    }
}

extension DeviceAlert {
    fileprivate init(link params: JSONValue) throws(Malformed) {
        guard let rule = params["rule"]?.asString.flatMap({ AlertRule(name: $0) }) else {
            throw Malformed("rule is missing or unknown")
        }
        guard let edge = params["edge"]?.asString.flatMap({ AlertEvent.Edge(rawValue: $0) }) else {
            throw Malformed("edge must be raised or cleared")
        }
        guard let at = params["at"]?.asInt64.map({ Timestamp(milliseconds: $0) }), SampleLimits.moments.contains(at)
        else { throw Malformed("at must be a time in milliseconds since 1970") }
        self.init(rule: rule, edge: edge, value: params["value"]?.asDouble, at: at)
    }
}

extension Logger.Level {
    /// A level by its name on the wire; an unknown one is `info`.
    fileprivate init(link name: String?) {
        switch name {
        case "warn": self = .warning
        case let name?: self = Logger.Level(rawValue: name) ?? .info
        case nil: self = .info
        }
    }
}
