import GatewayKit
import JSON
import Vitals

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
