import GatewayKit
import JSON
import Vitals

extension JSONWriter {
    /// Writes the lines of an event. A sample with a receipt becomes a request with the id that `request` returns.
    mutating func linkNotifications(of event: DeviceEvent, request: (SampleReceipt) -> Int) {
        switch event {
        case .samples(let samples, let receipts):
            for (position, sample) in samples.enumerated() {
                let receipt = receipts.indices.contains(position) ? receipts[position] : nil
                linkSampleLine(sample, id: receipt.map(request))
            }
        case .measurementSample(let id, let sample):
            linkNotification("measurement/sample") { params in
                params.member("measurement", id.text)
                params.key("sample")
                params.linkSample(sample)
            }
        case .readingFailed(let id, let error):
            linkNotification("measurement/error") { params in
                params.member("measurement", id.text)
                params.linkError(error)
            }
        case .measurementEnded(let id, let completed, let error):
            linkNotification("measurement/ended") { params in
                params.member("measurement", id.text)
                params.member("completed", completed)
                params.linkError(error)
            }
        case .battery(let percent, let isCharging):
            linkNotification("battery") { params in
                params.member("percent", percent)
                params.member("charging", isCharging)
            }
        case .wear(let isWorn): linkNotification("wear") { $0.member("worn", isWorn) }
        case .signal(let strength): linkNotification("signal") { $0.member("rssi", strength) }
        case .alert(let alert): linkAlert(alert)
        case .alerts(let alerts, _), .warnings(let alerts, _): for alert in alerts { linkAlert(alert) }
        case .unreadable(let sample):
            linkNotification(sample.measurement == nil ? "sample" : "measurement/sample") { params in
                if let measurement = sample.measurement { params.member("measurement", measurement.text) }
                params.key("sample")
                params.beginObject()
                if let metric = sample.metric { params.member("metric", metric.rawValue) }
                if let start = sample.start { params.member("start", start.milliseconds) }
                params.endObject()
            }
        case .skipped, .progress: break  // Vitals Link has no such notification: a device sends its values.
        case .malformed(let reason):
            // The device reported a malformed input: the log says what, and the null sample makes the gateway count it.
            linkNotification("log") { params in
                params.member("level", "warning")
                params.member("message", reason)
            }
            linkNotification("sample") { $0.member("sample", JSONValue.null) }
        }
    }

    private mutating func linkAlert(_ alert: DeviceAlert) {
        linkNotification("alert") { params in
            params.member("rule", alert.rule.name)
            params.member("edge", alert.edge.rawValue)
            params.member("value", alert.value)
            params.member("at", alert.at.milliseconds)
        }
    }

    private mutating func linkError(_ error: DeviceError?) {
        key("error")
        guard let failure = error.map({ LinkFailure($0) }) else { return null() }
        beginObject()
        member("code", failure.code)
        member("message", failure.message)
        endObject()
    }

    private mutating func linkNotification(_ method: String, _ params: (inout JSONWriter) -> Void) {
        beginObject()
        member("jsonrpc", "2.0")
        member("method", method)
        member("params", object: params)
        endObject()
        newline()
    }
}
