import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import GATTHealth

@Suite struct RecordHistoryTests {
    private func moment(_ minute: Int) -> Timestamp { ScriptedClinic.moment(minute) }

    private func record(_ minute: Int, _ value: Double = 97) -> StoredRecord {
        .samples([Sample(metric: .bloodOxygen, start: moment(minute), reading: .value(value))])
    }

    private func request(_ from: Int, _ to: Int, page: String? = nil, limit: Int = 2) -> HistoryRequest {
        HistoryRequest(metric: .bloodOxygen, from: moment(from), to: moment(to), page: page, limit: limit)
    }

    @Test func `pages go on where the one before ended, also when records come in between`() {
        var history = RecordHistory()
        history.add([record(3), record(1), record(5)], isWhole: true)
        let first = history.page(request(0, 10))
        #expect(first.samples.map(\.start) == [moment(1), moment(3)])
        history.add([record(2), record(6)], isWhole: false)
        let second = history.page(request(0, 10, page: first.next))
        #expect(second.samples.map(\.start) == [moment(5), moment(6)])
        #expect(second.next == nil)
        #expect(history.page(request(2, 5, limit: 9)).samples.map(\.start) == [moment(2), moment(3)])
        #expect(history.page(request(0, 10, page: "x", limit: 9)).samples.count == 5)
    }

    @Test func `the later one of two records with one start counts, and a whole transfer replaces all`() {
        var history = RecordHistory()
        history.add([record(1, 95), record(1, 96)], isWhole: false)
        #expect(history.page(request(0, 10)).samples.map(\.value) == [96])
        history.add([record(2)], isWhole: true)
        #expect(history.page(request(0, 10)).samples.map(\.start) == [moment(2)])
    }

    @Test func `a refused record counts in its range, and one without a time once`() {
        var history = RecordHistory()
        let refused = [moment(4), nil].map { start in
            StoredRecord.refused(UnreadableSample(metric: .bloodOxygen, start: start, problem: "it is damaged"))
        }
        history.add(refused, isWhole: true)
        #expect(history.page(request(0, 4)).malformed == 1)
        #expect(history.page(request(0, 5)).malformed == 1)
        #expect(history.page(request(5, 9)).malformed == 0)
        // An oximeter sends the same ones with each transfer.
        history.add(refused, isWhole: true)
        #expect(history.page(request(5, 9)).malformed == 0)
    }

    @Test func `an oximeter with too many records is read up to a limit`() throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        var records = OximeterRecords(OximeterProfile(calendar: calendar))
        let characteristic = GATTCharacteristic(
            service: Assigned.oximeterService, uuid: Assigned.spotCheck, handle: 3, properties: .indicate)
        _ = records.begin(all: true)
        let value = GATTValue(characteristic: characteristic, bytes: [0])
        for _ in 0...RecordHistory.capacity { records.collect(value) }
        #expect(records.skipped == 1)
        #expect(records.endTransfer().records.count == RecordHistory.capacity)
    }
}
