import Contract
import HTTPTypes
import JSON
import Testing
import Vitals

@testable import Web

/// Samples, nights, days and alerts: their forms, and their pages.
@Suite struct APIListTests {
    private static let path = "devices/band-1/samples?metric=heart_rate"

    /// All entries of a list, by following `next`; each page is asked for by what `Link` says.
    private func all(_ api: ShownAPI, _ path: String, of name: String, between: () -> Void = {}) async throws
        -> [JSONValue]
    {
        let resource = path.prefix { $0 != "?" }
        var (entries, next): ([JSONValue], String?) = ([], path)
        while let path = next {
            let answer = await api.ask(path)
            #expect(answer.status == 200)
            entries += answer.json[name]?.asArray ?? []
            let link = answer.header("Link")
            #expect((link == nil) == (answer.json["next"]?.isNull == true))
            next = try link.map { link in
                let query = try #require(link.wholeMatch(of: /<\?(.*)>; rel="next"/)).1
                return "\(resource)?\(query)"
            }
            between()
        }
        return entries
    }

    @Test func `samples come in pages that have each of them once, also while others are added`() async throws {
        let data = try ShownData.ofTwo()
        let beats = try (0..<10).map { try ShownData.beat($0) }
        let late = try [-5, 0, 20].map { try ShownData.beat($0, 90) }
        data.set { $0.samples = beats }
        let api = try ShownAPI(data)
        let found = try await all(api, "\(Self.path)&limit=3", of: "samples") {
            // One before the place of the page, a repeated one, and one behind all of them.
            data.set { if $0.samples.count == beats.count { $0.samples += [late[0], late[2]] } }
        }
        #expect(found.compactMap { $0["id"]?.asString } == (beats + [late[2]]).map { $0.id.description })
        #expect(data.now.limits.allSatisfy { $0 == 3 })
    }

    @Test func `a range that a page has begun with stays its range`() async throws {
        let data = try ShownData.ofTwo()
        data.set { state in state.samples = (0..<10).compactMap { try? ShownData.beat($0) } }
        let range = "&from=\(ShownData.dawn + .minutes(2))&to=\(ShownData.dawn + .minutes(7))"
        let found = try await all(try ShownAPI(data), "\(Self.path)&limit=2\(range)", of: "samples")
        let starts = (2..<7).map { (ShownData.dawn + .minutes($0)).description }
        #expect(found.compactMap { $0["start"]?.asString } == starts)
    }

    @Test func `a sample has the members of the contract, its device, metric and person`() async throws {
        let data = try ShownData.ofTwo()
        let beat = try ShownData.beat(0, 61.5)
        data.set { $0.samples = [beat] }
        let api = try ShownAPI(data)
        let line = await api.ask("\(Self.path)&format=ndjson")
        #expect(line.contentType == "application/x-ndjson")
        let sample = line.json
        #expect(sample["device"] == "band-1" && sample["person"] == "anna" && sample["metric"] == "heart_rate")
        #expect(sample["value"] == 61.5 && sample["id"]?.asString == beat.id.description)
        #expect(await api.ask(Self.path).json["samples"]?[0] == sample)
        let table = await api.ask("\(Self.path)&format=csv")
        #expect(table.contentType == "text/csv; charset=utf-8")
        let rows = table.text.split(separator: "\r\n")
        #expect(rows.count == 2 && rows[0].hasPrefix("device,person,metric,unit,id,rev,start"))
        #expect(rows[1].hasPrefix("band-1,anna,heart_rate,bpm,\(beat.id),1,"))
    }

    @Test(arguments: [
        ("text/csv", "text/csv; charset=utf-8"), ("application/*;q=0.5, text/csv;q=0.4", "application/json"),
        ("text/html, */*;q=0.1", "application/json"),
        ("application/x-ndjson, application/json;q=0.9", "application/x-ndjson"),
        ("application/json;q=0, */*", "application/x-ndjson"),
    ])
    func `Accept chooses the form`(accept: String, type: String) async throws {
        let api = try ShownAPI(try ShownData.ofTwo())
        #expect(await api.ask(Self.path, [.accept: accept]).contentType == type)
    }

    @Test func `a form that there is not is 406, and Accept with a hundred ranges costs no more than thirty-two`()
        async throws
    {
        let api = try ShownAPI(try ShownData.ofTwo())
        let refused = await api.ask(Self.path, [.accept: "image/png, application/json;q=0"])
        #expect(refused.status == 406 && refused.contentType == "application/json")
        let strange = Array(repeating: "a/b", count: APIFormat.maximumRanges).joined(separator: ",")
        #expect(await api.ask(Self.path, [.accept: "\(strange),text/csv"]).status == 406)
        #expect(await api.ask("devices", [.accept: "text/csv"]).status == 406)
    }

    @Test(arguments: [
        "", "metric=heart", "metric=heart_rate&limit=0", "metric=heart_rate&limit=1001", "metric=heart_rate&limit=x",
        "metric=heart_rate&from=yesterday", "metric=heart_rate&cursor=1.2", "metric=heart_rate&cursor=1.2.3.4.x",
        "metric=heart_rate&format=xml", "metric=heart_rate&metric=stress", "metric=heart_rate&sort=up",
        "metric=heart_rate&person=%FF", "metric=heart_rate&person=%2",
    ])
    func `a wrong parameter is 400, and says what is wrong`(query: String) async throws {
        let answer = try await ShownAPI(try ShownData.ofTwo()).ask("devices/band-1/samples?\(query)")
        #expect(answer.status == 400 && answer.code == "invalid")
        #expect((answer.json["error"]?["message"]?.asString ?? "").count > 15)
    }

    @Test func `a query of four kilobytes is read, and a longer one refused`() async throws {
        let api = try ShownAPI(try ShownData.ofTwo())
        let head = "devices/band-1/samples?metric=heart_rate&person="
        let room = APIParameter.maximumQuery - "metric=heart_rate&person=".count
        #expect(await api.ask(head + String(repeating: "a", count: room)).status == 200)
        #expect(await api.ask(head + String(repeating: "a", count: room + 1)).status == 400)
    }

    @Test func `every text of the cursor's pattern is a page, however far it leads`() async throws {
        let api = try ShownAPI(try ShownData.ofTwo())
        for cursor in ["0.9.9.9.9", "9.0.0.0.0", "-9999999999999999999.9999999999999999999.0.0.-1"] {
            #expect(try cursor.wholeMatch(of: Regex(APICursor.pattern(5))) != nil)
            #expect(await api.ask("\(Self.path)&cursor=\(cursor)").status == 200)
        }
        #expect(
            await api.ask("\(Self.path)&cursor=0.9.9.9.\(String(repeating: "9", count: APICursor.digits + 1))").status
                == 400)
        for cursor in ["0.9", "-9999999999999999999.9999999999999999999"] {
            #expect(await api.ask("devices/band-1/days?metric=steps&cursor=\(cursor)").status == 200)
            #expect(await api.ask("devices/band-1/alerts?cursor=\(cursor)").status == 200)
        }
    }

    @Test func `a page of sleeps has at most fifty, and nights leave out those that do not count`() async throws {
        let data = try ShownData.ofTwo()
        let nights = try (0..<60).map { number in
            let start = ShownData.dawn + .days(number)
            let stage = Sleep.Stage(.light, from: start, to: start + .hours(1))
            let sample = Sample(
                metric: .sleep, start: start, end: start + .hours(1), reading: .sleep(Sleep(stages: [stage])))
            return StoredSample(
                sample: sample, of: try ShownData.id("band-1"), revision: 1, receivedAt: start, isWithdrawn: number == 1
            )
        }
        data.set { $0.samples = nights }
        let api = try ShownAPI(data)
        #expect(try await all(api, "devices/band-1/samples?metric=sleep&limit=1000", of: "samples").count == 60)
        #expect(try await all(api, "devices/band-1/nights", of: "nights").count == 59)
        #expect(data.now.limits.allSatisfy { $0 == 50 })
    }

    @Test func `days go on where a page ends, as objects and as rows`() async throws {
        let data = try ShownData.ofTwo()
        let days = (0..<5).map { number in
            let day = LocalDay(number: 20_000 + number)
            let summary = DailySummary(metric: .heartRate, day: day, samples: [StoredSample]())
            return DayRecord(summary: summary, revision: 1, updatedAt: ShownData.dawn, isFinal: true)
        }
        data.set { $0.days = days }
        let api = try ShownAPI(data)
        let found = try await all(api, "devices/band-1/days?metric=heart_rate&limit=2", of: "days")
        #expect(found.compactMap { $0["date"]?.asString } == days.map(\.summary.day.description))
        #expect(found.allSatisfy { $0["device"] == "band-1" && $0["final"] == true })
        let some = await api.ask("devices/band-1/days?metric=heart_rate&from_day=2024-10-05&to_day=2024-10-06")
        #expect(some.json["days"]?.asArray?.count == 2 && some.json["next"]?.isNull == true)
        let table = await api.ask("devices/band-1/days?metric=heart_rate&format=csv").text.split(separator: "\r\n")
        #expect(
            table.count == 6 && table[0].hasPrefix("device,metric,date,tz")
                && table[1].hasPrefix("band-1,heart_rate,2024-10-04"))
    }

    @Test func `alerts come newest first, and those of one moment are on one page`() async throws {
        let data = try ShownData.ofTwo()
        let moments = [0, 1, 1, 1, 2, 3]
        let events = moments.enumerated().map { number, minute in
            let moment = ShownData.dawn + .minutes(minute)
            return AlertEvent(
                id: SampleID(name: "\(number)"), rule: AlertRule(.stress, .high), edge: .raised, value: 90, limit: 80,
                origin: .gateway, measuredAt: moment, raisedAt: moment, sampleID: nil,
                acknowledgement: number == 5 ? Vitals.Acknowledgement(by: "ben", at: moment + .minutes(1)) : nil)
        }
        data.set { $0.alerts = events }
        let api = try ShownAPI(data)
        let found = try await all(api, "devices/band-1/alerts?limit=2", of: "alerts")
        #expect(found.count == 6 && Set(found.map { $0["id"]?.asString }).count == 6)
        #expect(
            found.map { $0["measured_at"]?.asString ?? "" }
                == moments.reversed().map { (ShownData.dawn + .minutes($0)).description })
        let recent = await api.ask("devices/band-1/alerts?from=\(ShownData.dawn + .minutes(2))").json["alerts"]?.asArray
        #expect(recent?.count == 2 && recent?.first?["person"] == "anna")
        #expect(found.map { $0["acknowledged_by"]?.asString } == ["ben", nil, nil, nil, nil, nil])
        let table = await api.ask("devices/band-1/alerts?format=csv").text
        #expect(table.split(separator: "\r\n").count == 7)
    }

    @Test func `a store that cannot be read is 503, with its reason`() async throws {
        let data = try ShownData.ofTwo()
        data.set { $0.failure = StoreError(.unavailable, "The disk is gone.") }
        let answer = try await ShownAPI(data).ask(Self.path)
        #expect(answer.status == 503 && answer.code == "store" && answer.text.contains("The disk is gone."))
    }
}
