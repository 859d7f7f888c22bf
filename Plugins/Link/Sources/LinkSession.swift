import GatewayKit
import JSON
import Vitals

/// A conversation with a device that has answered `initialize`: each operation is one call of Vitals Link.
struct LinkSession: DeviceSession {
    let description: DeviceDescription
    private let connection: LinkConnection

    init(_ connection: LinkConnection, description: DeviceDescription) {
        self.connection = connection
        self.description = description
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await connection.inbox.next() }

    func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) {
        guard !receipts.isEmpty else { return }
        var replies = Replies()
        for settled in receipts {
            let id = LinkToken(text: settled.receipt.mark)
            if let refusal = settled.refusal {
                replies.refuse(id, .invalid, refusal.message)
            } else {
                replies.accept(id)
            }
        }
        try await connection.write(replies.bytes)
    }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        let limit = min(max(request.limit, 1), HistoryRequest.maximumLimit)
        return try await connection.call("history/read") { params in
            params.member("metric", request.metric.rawValue)
            params.member("from", request.from.milliseconds)
            params.member("to", request.to.milliseconds)
            if let page = request.page {
                params.key("page")
                LinkToken(text: page).write(to: &params)
            }
            params.member("limit", limit)
        } reading: { (reader) throws(JSONError) in
            try HistoryPage(link: &reader, of: request.metric)
        }
    }

    func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        do {
            try await connection.call("history/acknowledge") { params in
                params.member("metric", metric.rawValue)
                params.member("through", through.milliseconds)
            }
        } catch  where error.code == .unsupported {
            // A device that never forgets its history may lack the method.
        }
    }

    func summaries(of metric: Metric, days: ClosedRange<LocalDay>) async throws(DeviceError) -> [DailySummary] {
        let context = connection.context
        let receivedAt = context.clock.now
        return try await connection.call("summary/read") { params in
            params.member("metric", metric.rawValue)
            params.key("from_day")
            params.quoted { bytes in days.lowerBound.append(to: &bytes) }
            params.key("to_day")
            params.quoted { bytes in days.upperBound.append(to: &bytes) }
        } reading: { (reader) throws(JSONError) in
            let start = reader.index
            let decoder = SummaryDecoder(device: context.device, metric: metric, receivedAt: receivedAt)
            guard let summaries = decoder.summaries(in: try JSONValue(from: &reader)) else {
                throw JSONError(.wrongValue, at: start)
            }
            return summaries
        }
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await connection.call("monitor/read") { params in
            params.member("metric", metric.rawValue)
        } reading: { (reader) throws(JSONError) in
            let start = reader.index
            let result = try JSONValue(from: &reader)
            guard let value = result["configuration"], let configuration = MonitorConfiguration(link: value, of: metric)
            else { throw JSONError(.wrongValue, at: start) }
            return configuration
        }
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try await connection.call("monitor/write") { params in
            params.member("metric", configuration.metric.rawValue)
            params.member("configuration") { configuration.write(to: &$0) }
        }
    }

    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        try await connection.call("measurement/start") { params in
            params.member("metric", metric.rawValue)
            // Whole seconds, rounded up and at least one.
            params.member("duration_s", max(1, (duration.inMilliseconds - 1) / 1000 + 1))
        } reading: { (reader) throws(JSONError) in
            var id: MeasurementID?
            let start = reader.index
            try reader.beginObject()
            while let key = try reader.nextKey(in: MeasurementKey.words) {
                switch key {
                case .measurement: id = MeasurementID(try LinkToken(from: &reader).text)
                default: try reader.skip()
                }
            }
            guard let id else { throw JSONError(.wrongValue, at: start) }
            return id
        }
    }

    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        try await connection.call("measurement/stop") { params in
            params.key("measurement")
            LinkToken(text: measurement.text).write(to: &params)
        }
    }

    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await connection.call("time/set") { params in
            params.member("now", now.milliseconds)
            params.member("utc_offset_min", utcOffset)
        }
    }

    func ping() async throws(DeviceError) { try await connection.ping() }

    func shutdown() async {
        connection.expectEnd()
        // Any answer, and also a closed link, is fine: the gateway is done with the device.
        try? await connection.call("shutdown") { _ in }
    }
}
