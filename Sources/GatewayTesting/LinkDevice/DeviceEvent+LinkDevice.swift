import GatewayKit
import JSON
import Vitals

extension JSONWriter {
    /// Writes the lines of an event. A sample with a receipt becomes a request, under the id that `request` gives it.
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
        case .measurementEnded(let id, let completed, let error):
            linkNotification("measurement/ended") { params in
                params.member("measurement", id.text)
                params.member("completed", completed)
                params.key("error")
                guard let failure = error.map({ LinkFailure($0) }) else { return params.null() }
                params.beginObject()
                params.member("code", failure.code)
                params.member("message", failure.message)
                params.endObject()
            }
        case .battery(let percent, let isCharging):
            linkNotification("battery") { params in
                params.member("percent", percent)
                params.member("charging", isCharging)
            }
        case .wear(let isWorn): linkNotification("wear") { $0.member("worn", isWorn) }
        case .alert(let alert):
            linkNotification("alert") { params in
                params.member("rule", alert.rule.name)
                params.member("edge", alert.edge.rawValue)
                params.member("value", alert.value)
                params.member("at", alert.at.milliseconds)
            }
        case .malformed(let reason):
            // The device's own device sent it something strange: the log says what, and the gateway counts it.
            linkNotification("log") { params in
                params.member("level", "warning")
                params.member("message", reason)
            }
            linkNotification("sample") { $0.member("sample", JSONValue.null) }
        }
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
