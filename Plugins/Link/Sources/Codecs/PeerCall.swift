import GatewayKit
import JSON
import Logging
import Vitals

/// The members of parameters about a measurement.
enum MeasurementKey: String, CaseIterable {
    case measurement, sample, completed, error
    static let words = JSONWords(of: MeasurementKey.self)
}

/// The meaning of a device's call. Not for `sample`, which comes by the thousand and has its own fast path.
enum PeerCall {
    case event(DeviceEvent)
    case log(Logger.Level, String)

    /// The possible signal strengths of a radio, in dBm (Bluetooth Core Specification, Vol 4, Part E, 7.5.4).
    static let signalStrengths = -127...20
    /// The most characters of a message that are logged.
    static let maximumLogLength = 1_000

    /// Reads a call's parameters.
    init(_ method: PeerMethod, _ params: inout JSONReader) throws(Malformed) {
        switch method {
        case .measurementSample, .measurementError, .measurementEnded:
            self = .event(try Self.measurement(method, &params))
        case .battery, .wear, .signal, .alert, .log, .sample:
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
        case .signal:
            guard let strength = params["rssi"]?.asInt, signalStrengths.contains(strength) else {
                throw Malformed("rssi must be a whole number from -127 to 20")
            }
            return .event(.signal(strength: strength))
        case .alert: return .event(.alert(try DeviceAlert(link: params)))
        case .log:
            guard let message = params["message"]?.asString else { throw Malformed("message must be a text") }
            return .log(Logger.Level(link: params["level"]?.asString), message.printable(atMost: maximumLogLength))
        case .sample, .measurementSample, .measurementError, .measurementEnded:
            throw Malformed("The method is not a notification of this kind")
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
        switch method {
        case .measurementSample:
            guard let members else { throw Malformed("sample is missing") }
            // The gateway counts impossible readings.
            return .measurementSample(measurement, try Sample(unchecked: members))
        case .measurementError:
            guard let failure else { throw Malformed("error is missing") }
            return .readingFailed(measurement, failure)
        default: break
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
    /// The level for a name on the wire; an unknown name is `info`.
    fileprivate init(link name: String?) {
        switch name {
        case "warn": self = .warning
        case let name?: self = Logger.Level(rawValue: name) ?? .info
        case nil: self = .info
        }
    }
}

extension UnreadableSample {
    /// What can be read of the sample in the parameters of a call; `nil` if the call brings none, or if neither its metric nor its
    /// measurement can be read.
    init?(_ method: PeerMethod, _ params: JSONReader, _ problem: String) {
        guard method == .sample || method == .measurementSample else { return nil }
        var reader = params
        guard let sample = (try? JSONValue(from: &reader))?["sample"] else { return nil }
        let start = sample["start"]?.asInt64.map { Timestamp(milliseconds: $0) }
        self.init(
            metric: sample["metric"]?.asString.flatMap { Metric(rawValue: $0) }.flatMap { $0.hasHistory ? $0 : nil },
            start: start.flatMap { SampleLimits.moments.contains($0) ? $0 : nil },
            measurement: method == .measurementSample ? MeasurementID(in: params) : nil,
            problem: problem)
        if metric == nil, measurement == nil { return nil }
    }
}

extension MeasurementID {
    /// The measurement that the parameters of a call name.
    fileprivate init?(in params: JSONReader) {
        var reader = params
        do {
            try reader.beginObject()
            while let key = try reader.nextKey(in: MeasurementKey.words) {
                guard key != .measurement else {
                    self.init(try LinkToken(from: &reader).text)
                    return
                }
                _ = try reader.raw()
            }
        } catch {}
        return nil
    }
}
