import Foundation
import GatewayKit
import Vitals

@testable import Phones

/// Exports of Apple's Health app, made for tests, and what is read of them.
enum HealthFile {
    static let watch = "Anna’s Apple\u{A0}Watch"

    /// The XML with these elements, and a document type as broken as Apple's.
    static func xml(_ elements: [String], prolog: String = "", isWhole: Bool = true) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE HealthData [
        <!ELEMENT HealthData (ExportDate,Me,(Record|Workout)*)>
        <!ATTLIST HealthData
          locale CDATA #REQUIRED
        >
        <!ATTLIST CategoryType value #IMPLIED startDate CDATA #REQUIRED>
        \(prolog)]>
        <HealthData locale="de_DE">
         <ExportDate value="2026-06-13 10:00:00 +0200"/>
         <Me HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"/>
        \(elements.joined(separator: "\n"))
        \(isWhole ? "</HealthData>\n" : "")
        """
    }

    /// A record of 2026-06-12, with times such as `10:00:13` in `zone`.
    static func record(
        _ type: String, _ value: String, _ start: String, _ end: String? = nil, unit: String? = nil,
        source: String = watch, zone: String = "+0200", day: String = "2026-06-12", content: String? = nil
    ) -> String {
        let kind = type == "SleepAnalysis" || type == "AppleStandHour" ? "Category" : "Quantity"
        let measured = unit.map { " unit=\"\($0)\"" } ?? ""
        let suffix = zone.isEmpty ? "" : " \(zone)"
        return
            " <Record type=\"HK\(kind)TypeIdentifier\(type)\" sourceName=\"\(source)\" sourceVersion=\"11.3\"\(measured) creationDate=\"\(day) 23:00:00\(suffix)\" startDate=\"\(day) \(start)\(suffix)\" endDate=\"\(day) \(end ?? start)\(suffix)\" value=\"\(value)\""
            + (content.map { ">\n\($0)\n </Record>" } ?? "/>")
    }

    static func metadata(_ key: String, _ value: String) -> String {
        "  <MetadataEntry key=\"\(key)\" value=\"\(value)\"/>"
    }

    /// The archive that the app makes.
    static func zip(_ xml: String, as name: String = "apple_health_export/export.xml") -> [UInt8] {
        ZipFile(entries: [
            .init(name: "apple_health_export/workout-routes/route.gpx", content: Array("<gpx/>".utf8)),
            .init(name: "apple_health_export/export_cda.xml", content: Array("<ClinicalDocument/>".utf8)),
            .init(name: name, content: Array(xml.utf8), isLarge: true),
        ]).bytes
    }

    /// What an export gave.
    struct Reading {
        var samples: [Sample] = []
        var skipped: [String: Int] = [:]
        var refused: [String: Int] = [:]
        var leftOut: [String: Int] = [:]
        var damage: [String: Int] = [:]
        var problem: String?
        /// The positions that were reached on the way.
        var positions: [Int64] = []
    }

    static func read(_ bytes: [UInt8], from: Int64 = 0, order: SourceOrder = SourceOrder()) throws -> Reading {
        let folder = try Folder()
        let export = AppleExport(
            try ExportBytes(try folder.write(bytes, as: "export.zip")), from: from, order: order)
        var reading = Reading()
        while !export.isAtEnd || export.hasPending {
            switch export.next() {
            case .sample(let sample)?: reading.samples.append(sample)
            case .skipped(let reason)?: reading.skipped[reason, default: 0] += 1
            case .refused(_, let reason)?: reading.refused[reason, default: 0] += 1
            case .nothing?, .alert?, .battery?, nil: break
            }
            if reading.positions.last != export.position { reading.positions.append(export.position) }
        }
        reading.leftOut = export.leftOut
        for one in export.damage { reading.damage[one.reason] = one.count }
        reading.problem = export.problem
        return reading
    }

    static func read(_ elements: [String]) throws -> Reading { try read(zip(xml(elements))) }
}
