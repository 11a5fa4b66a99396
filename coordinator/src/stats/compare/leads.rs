//! Where to look next.

/// Cells with a value up to this are leads: about one in ten of them is there by chance.
pub const LEAD_SHARE: f64 = 0.10;

/// The q-value of every p, in the order given. A list of those up to [`LEAD_SHARE`] is a list of leads, not of findings.
///
/// Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995).
pub fn leads(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|left, right| ps[*left].total_cmp(&ps[*right]));
    let mut values = vec![1.0; ps.len()];
    let mut above = 1.0_f64;
    for (position, index) in order.iter().enumerate().rev() {
        above = above.min(ps[*index] * ps.len() as f64 / (position + 1) as f64);
        values[*index] = above;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_procedure_of_benjamini_and_hochberg() {
        // R: p.adjust(c(.01, .04, .03, .005), "BH")
        for (found, expected) in leads(&[0.01, 0.04, 0.03, 0.005]).iter().zip([0.02, 0.04, 0.04, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(leads(&[]).is_empty());
    }
}
